"""`python -m benchmarks`: measures, prints tables, writes results files and the pages' tables."""

from __future__ import annotations

import sys

from benchmarks.command import main

if __name__ == "__main__":
    sys.exit(main())
