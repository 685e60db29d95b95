"""`python -m app.bench`."""

import sys

from app.bench.command import main

sys.exit(main())
