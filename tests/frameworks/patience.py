"""A turn waits for memory as long as that takes, unless a test says how long.

On a busy machine memory takes more than the second that a turn has for it, and an agent that goes
on without is what trouble is tested for, not the rest.
"""

from holdfast.integrations import companion
from holdfast.integrations.turns import TurnPolicy

SECONDS = 30.0


def patient() -> None:
    """Makes every turn of this process wait so long."""
    _, *others = TurnPolicy.__init__.__defaults__ or ()
    TurnPolicy.__init__.__defaults__ = (SECONDS, *others)
    companion.LOOP_SECONDS = SECONDS
