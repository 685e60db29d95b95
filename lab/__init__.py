"""The core of the serving lab: how an LLM serving engine batches, schedules and pages KV memory.

Standard library only. It runs in CPython 3.11 or later and in Pyodide.
"""

from lab.core import install

__version__ = "0.1.0"

install()
