"""`make faults`: kill writers, fill disks, turn clocks, and count what is lost.

The test itself is the package beside this file; this is only how it is called by its path.
"""

import os
import sys
from pathlib import Path

# Writers are forked: numpy must not have threads of its own by then.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")
sys.path[0] = str(Path(__file__).resolve().parent.parent)

from benchmarks.faults.run import main  # noqa: E402  # the path comes first

if __name__ == "__main__":
    sys.exit(main())
