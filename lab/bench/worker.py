"""A process that measures: a case a line on stdin, its answer a line on stdout. In browsers, `answer` is called.

python -m lab.bench.worker
"""

from __future__ import annotations

import importlib
import json
import platform
import re
import sys
from typing import Any

from lab.bench.measuring import PLAIN_ENGINE, timed
from lab.core import COMPILED, HOT, core, why


def answer(line: str) -> str:
    """The answer to a case, or to ``{"about": true}``, in JSON. What goes wrong is answered as ``{"problem": …}``."""
    try:
        case = json.loads(line)
        return json.dumps(about() if case.get("about") else timed(case))
    except Exception as error:
        return json.dumps({"problem": f"{type(error).__name__}: {error}"})


def about() -> dict[str, Any]:
    """What this interpreter is."""
    return {
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "compiler": platform.python_compiler().split(" (")[0],
        "platform": sys.platform,
        "core": core(),
        "why": why(),
        "cython": _cython(),
        "plain": PLAIN_ENGINE.is_file(),
    }


def _cython() -> str:
    """The version that compiled what runs here, which leaves it in the name of a module; empty if nothing is."""
    if core() == COMPILED:
        for name in HOT:
            importlib.import_module(name)
    found = [name for name in sys.modules if re.fullmatch(r"_cython_[\d_]+", name)]
    return found[0].removeprefix("_cython_").replace("_", ".") if found else ""


def main() -> None:
    """Answer until stdin ends."""
    for line in sys.stdin:
        print(answer(line), flush=True)


if __name__ == "__main__":
    main()
