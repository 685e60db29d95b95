"""The errors that a user of the builder sees: `str()` says in plain words why, and what to do about it."""


class BuildError(Exception):
    """The site cannot be built as things are on this machine."""

    status = 2
    """Exit status of the command."""


class BuilderFault(BuildError):
    """Something that should work does not: a fault of ours, or of what is installed."""

    status = 3
