"""Fetch and build once, before the tests start side by side: `python -m app.setup.warm`.

What is fetched and compiled is then in the cache, and no test waits for a network.
"""

import sys

from app.build.compress import QUICK
from app.build.errors import BuildError
from app.build.paths import cache_folder
from app.build.site import make_site
from app.build.store import Store


def main() -> int:
    """Returns the exit status; what went wrong stands on stderr in one line."""
    try:
        make_site(Store(cache_folder()), QUICK)
    except BuildError as problem:
        print(f"setup: {problem}", file=sys.stderr)
        return problem.status
    return 0


if __name__ == "__main__":
    sys.exit(main())
