"""The file that the interpreter for a solution is started with: ``boot.py REQUESTS ANSWERS STATUS LIFELINE``.

The arguments are descriptors. Our two folders are on the path only while they are imported from.
"""

import sys
from pathlib import Path

_STAFF = Path(__file__).resolve().parents[1]
_ADDED = [str(_STAFF), str(_STAFF.parent / "grading")]

if __name__ == "__main__":
    sys.path += _ADDED
    from box import keeper  # type: ignore[import-not-found]

    sys.path[:] = [entry for entry in sys.path if entry not in _ADDED]
    descriptors = [int(number) for number in sys.argv[1:]]
    sys.argv[:] = [""]
    keeper.keep(*descriptors)
