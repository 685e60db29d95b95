"""The builtins as they were before any learner code ran.

A function looks builtins up in its globals' ``__builtins__``, as found when the function was made. Each module here
therefore begins with ``globals()["__builtins__"] = BUILTINS``: what a learner does to `builtins` later
(``builtins.len = None``) does not reach it.
"""

import builtins

BUILTINS = dict(vars(builtins))
