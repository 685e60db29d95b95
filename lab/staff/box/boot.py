"""The file that the interpreter for a solution is started with: ``boot.py REQUESTS ANSWERS STATUS LIFELINE``.

The arguments are descriptors. The lab is on the path only while it is imported from, and then nobody finds it: for a
solution there is the standard library alone.
"""

import sys
from pathlib import Path

if __name__ == "__main__":
    sys.path.append(str(Path(__file__).resolve().parents[3]))
    from lab.staff.box import keeper

    sys.path.pop()
    for name in [name for name in sys.modules if name.partition(".")[0] == "lab"]:
        del sys.modules[name]
    descriptors = [int(number) for number in sys.argv[1:]]
    sys.argv[:] = [""]
    keeper.keep(*descriptors)
