"""A solution of ours, run like a learner's: it tries what no solution should be able to, and says what it could.

Its text is sent; nothing here imports it.
"""

SOURCE = '''
def trial(needed, secrets, results, grader, port, outside):
    """Names of modules that cannot be imported; and for each question whether it is refused."""
    import os
    missing = []
    for name in needed:
        try:
            __import__(name)
        except BaseException:
            missing.append(name)

    def refused(action, *arguments):
        try:
            action(*arguments)
        except OSError:
            return True
        return False

    def read(path):
        with open(path, "rb") as file:
            file.read(1)

    def write(folder):
        path = os.path.join(folder, "serving-lab-trial")
        with open(path, "w") as file:
            file.write("x")
        os.unlink(path)

    def connect():
        if "socket" in missing:
            raise OSError
        import socket
        socket.create_connection(("127.0.0.1", port), 1).close()

    out_of_reach = all([refused(os.kill, pid, 0) for pid in grader])
    for pid in grader:
        for name in ("environ", "mem", "maps"):
            out_of_reach &= refused(read, "/proc/%d/%s" % (pid, name))
    return missing, {
        "checks_unreadable": all([refused(read, path) for path in secrets[0]]),
        "others_work_unreadable": all([refused(read, path) for path in secrets[1]]),
        "results_unwritable": all([refused(write, path) for path in results]),
        "grader_out_of_reach": out_of_reach,
        "no_network": refused(connect),
        "writes_only_inside": all([refused(write, path) for path in outside]),
    }
'''

NEEDED = (
    *(
        "abc",
        "array",
        "bisect",
        "calendar",
        "collections",
        "collections.abc",
        "contextlib",
        "copy",
        "ctypes",
        "dataclasses",
    ),
    *(
        "datetime",
        "decimal",
        "enum",
        "fractions",
        "functools",
        "heapq",
        "inspect",
        "io",
        "itertools",
        "json",
        "logging",
    ),
    *(
        "math",
        "operator",
        "os",
        "pprint",
        "queue",
        "random",
        "re",
        "socket",
        "statistics",
        "string",
        "struct",
        "textwrap",
    ),
    *("threading", "time", "traceback", "typing", "unittest", "uuid", "warnings", "weakref", "zlib"),
)
"""Modules of the standard library that a solution may well import, those with parts in C among them."""

OUTSIDE = ("/", "/tmp", "/var/tmp", "/dev/shm", "/run", "/home")
"""Folders in which a solution must not be able to leave anything for the next."""

MEANING = {
    "checks_unreadable": "solutions cannot read the checks",
    "others_work_unreadable": "solutions cannot read other students' work",
    "results_unwritable": "solutions cannot write into the results",
    "grader_out_of_reach": "solutions cannot signal or look into the grader",
    "no_network": "solutions reach no network",
    "writes_only_inside": "solutions can leave no file behind",
}
"""Each measured fact, in words."""
