"""What the `kronvex` client 0.5.x raises when a server at $URL says that it is enough."""

import os
import sys

from kronvex import Kronvex, exceptions

KINDS = {
    "memories": exceptions.MemoryLimitError,
    "rate": exceptions.RateLimitError,
    "busy": exceptions.ServiceUnavailableError,
}

wanted = KINDS[sys.argv[1]]
agent = Kronvex(os.environ["KEY"], base_url=os.environ["URL"]).agent("limited")
try:
    for number in range(3):
        agent.remember(f"note {number}")
except wanted:
    sys.exit(0)
sys.exit(f"no {wanted.__name__}")
