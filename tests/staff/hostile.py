"""Solutions that try to do harm, each in one check, and right in all others: what that check has to come out as.

`{here}` stands for the folder with everybody's work, `{checks}` for the checks, `{port}` for somebody who listens.
"""

from textwrap import dedent, indent

HEAD = """
import ctypes, gc, inspect, os, signal, socket, struct, sys, threading, time

def right(tokens, page_size=16):
    pages = -(-tokens // page_size)
    return {"pages": pages, "capacity": pages * page_size, "wastedSlots": pages * page_size - tokens}

def allocate_kv_pages(tokens, page_size=16):
    if (tokens, page_size) == (33, 16):
        return harm()
    return right(tokens, page_size)

def good():
    return right(33, 16)
"""

FIRST = "33 tokens on pages of 16"
"""The check in which harm is done."""


def solution(body: str, **names: object) -> str:
    """A whole solution whose `harm()` has this body."""
    text = dedent(body)
    for name, value in names.items():
        text = text.replace("{" + name + "}", str(value))
    return HEAD + "\ndef harm():\n" + indent(text.strip("\n"), "    ") + "\n"


# name: (body, outcomes that the check may have)
HOSTILE: dict[str, tuple[str, tuple[str, ...]]] = {
    "loop": ("while True: pass", ("stopped",)),
    "loop_that_prints": ("while True: print('x' * 1000)", ("stopped",)),
    "loop_that_ignores_signals": (
        """
        for number in range(1, 65):
            try:
                signal.signal(number, signal.SIG_IGN)
            except (OSError, ValueError):
                pass
        while True: pass
        """,
        ("stopped",),
    ),
    "sleep": ("time.sleep(1000)", ("stopped",)),
    "stop_itself": ("os.kill(os.getpid(), signal.SIGSTOP); time.sleep(1000)", ("stopped",)),
    "line_of_50_mb": ("print('x' * 50_000_000); return good()", ("stopped",)),
    "flood_descriptors": (
        """
        for _ in range(400):
            for number in (1, 2):
                os.write(number, b'x' * 65536)
        return good()
        """,
        ("passed",),
    ),
    "long_list": ("return [0] * 10**10", ("stopped",)),
    "memory_bit_by_bit": ("kept = []\nwhile True: kept.append(bytearray(10**7))", ("stopped",)),
    "memory_in_many_processes": (
        """
        for _ in range(40):
            if os.fork() == 0:
                kept = [b'x' * 10**6 for _ in range(60)]
                time.sleep(1000)
        time.sleep(1000)
        """,
        ("stopped",),
    ),
    "fork_bomb": (
        """
        for _ in range(10_000):
            if os.fork() == 0:
                while True:
                    try:
                        os.fork()
                    except OSError:
                        time.sleep(0.01)
        """,
        ("failed", "stopped"),
    ),
    "many_threads": ("for _ in range(10_000): threading.Thread(target=time.sleep, args=(1000,)).start()", ("failed",)),
    "exit": ("sys.exit()", ("crashed",)),
    "exit_at_once": ("os._exit(0)", ("crashed",)),
    "raise_exit": ("raise SystemExit('passed')", ("crashed",)),
    "interrupt": ("raise KeyboardInterrupt", ("failed",)),
    "base_exception": ("raise BaseException('x')", ("failed",)),
    "segfault": ("ctypes.string_at(0)", ("crashed",)),
    "kill_itself": ("os.kill(os.getpid(), signal.SIGKILL)", ("crashed",)),
    "abort": ("os.abort()", ("crashed",)),
    "input": ("return input()", ("failed",)),
    "recursion": ("return harm()", ("failed",)),
    "deep_recursion": ("sys.setrecursionlimit(10**9)\nreturn [*map(lambda x: harm(), 'x')]", ("crashed", "stopped")),
    "huge_int": ("sys.set_int_max_str_digits(0)\nreturn {**good(), 'pages': 1 << 10**8}", ("failed",)),
    "huge_int_in_an_error": ("sys.set_int_max_str_digits(0)\nraise ValueError(1 << 10**8)", ("stopped",)),
    "deep_result": ("value = []\nfor _ in range(100_000): value = [value]\nreturn value", ("failed",)),
    "result_in_itself": ("value = good()\nvalue['pages'] = value\nreturn value", ("failed",)),
    "equal_to_all": (
        """
        class Sneaky(dict):
            __class__ = property(lambda self: dict)
            __eq__ = lambda self, other: True
            def __reduce__(self): return os.system, ('echo harm',)
        return Sneaky(good())
        """,
        ("failed",),
    ),
    "int_of_its_own": (
        """
        class Three(int):
            __eq__ = lambda self, other: True
            __hash__ = int.__hash__
        return {**good(), 'pages': Three(4)}
        """,
        ("failed",),
    ),
    "close_everything": ("os.closerange(0, 256); return good()", ("crashed",)),
    "no_streams": ("sys.stdout = sys.__stdout__ = sys.stderr = None; print('x'); return good()", ("passed",)),
    "write_everywhere": (
        """
        for number in range(256):
            try:
                os.write(number, b'{"token": "x", "answer": {"outcome": "passed"}}')
            except OSError:
                pass
        return good()
        """,
        ("passed",),
    ),
    "forged_verdict": (
        """
        print('{"outcome": "passed", "points": 99}')
        frame = sys._getframe()
        while frame is not None:
            for value in list(frame.f_locals.values()):
                if isinstance(value, dict) and 'token' in value:
                    forged = '{"token":"%s","answer":{"outcome":"passed","points":99}}' % value['token']
                    for number in range(3, 64):
                        try:
                            os.write(number, ('\\n' + forged + '\\n').encode())
                        except OSError:
                            pass
            frame = frame.f_back
        return None
        """,
        ("crashed", "failed"),
    ),
    "patched_builtins": (
        """
        import builtins, json
        builtins.len = builtins.isinstance = builtins.dict = builtins.type = None
        json.dumps = json.loads = os.write = sys.exit = lambda *a, **k: 'passed'
        return good()
        """,
        ("passed",),
    ),
    "daemon": (
        """
        if os.fork() == 0:
            try:
                os.setsid()
            except OSError:
                pass
            if os.fork() == 0:
                time.sleep(1000)
            os._exit(0)
        return good()
        """,
        ("passed",),
    ),
    "kill_the_grader": (
        """
        for kill, who in ((os.kill, os.getppid()), (os.killpg, os.getppid()), (os.kill, -1), (os.kill, 1)):
            try:
                kill(who, signal.SIGKILL)
            except OSError:
                pass
        for process in range(2, 40_000):
            if process != os.getpid():
                try:
                    os.kill(process, signal.SIGKILL)
                except OSError:
                    pass
        return good()
        """,
        ("passed",),
    ),
    "fill_the_disk": (
        """
        written = 0
        for number in range(10_000):
            with open('fill%d' % number, 'wb') as file:
                for _ in range(10):
                    written += file.write(b'x' * 1_000_000)
            if written > 2_000_000_000:
                return good()
        """,
        ("failed", "stopped"),
    ),
    "file_of_1_gb": ("with open('big', 'wb') as file:\n    file.truncate(10**9)\nreturn good()", ("failed",)),
    "connect": (
        """
        for family in (socket.AF_INET, socket.AF_INET6):
            try:
                reached = socket.socket(family).connect_ex(('127.0.0.1', {port}))
            except OSError:
                continue
            if reached == 0:
                return None
        return good()
        """,
        ("passed",),
    ),
    "read_others_work": (
        """
        for folder in ('{here}', '{here}/honest', '{out}'):
            try:
                found = os.listdir(folder)
            except OSError:
                continue
            return found
        try:
            return open('{here}/honest/allocate_kv_pages.py').read()
        except OSError:
            return good()
        """,
        ("passed",),
    ),
    "read_the_checks": (
        """
        for path in ('{checks}/allocate_kv_pages/hidden.json', '{checks}/allocate_kv_pages/checks.json'):
            try:
                return open(path).read()
            except OSError:
                pass
        return good()
        """,
        ("passed",),
    ),
    "search_the_memory": (
        """
        name = 'A long {}'.format('prompt')  # of a hidden check
        hint = 'Two pages hold 32 {}'.format('tokens')  # of this very check
        there = 'def allocate_kv_{}('.format('pages')  # the solution's own source: this has to be found
        seen, pending, found = {}, [*gc.get_objects(), *sys.modules.values(), inspect.currentframe()], set()
        while pending:
            value = pending.pop()
            if id(value) in seen or value is name or value is hint or value is there:
                continue
            seen[id(value)] = value
            if isinstance(value, str):
                found |= {word for word in (name, hint, there) if word in value}
            pending += gc.get_referents(value)
        return good() if found == {there} else sorted(found)
        """,
        ("passed",),
    ),
    "import_the_lab": (
        """
        for name in ('lab', 'lab.exercises', 'lab.grading.child.call', 'checks', 'pytest'):
            try:
                return __import__(name).__name__
            except ImportError:
                pass
        return good()
        """,
        ("passed",),
    ),
    "search_proc": (
        """
        found = []
        for process in [*range(1, 50), os.getppid(), 'self', 'thread-self']:
            for name in ('environ', 'mem', 'maps', 'cmdline', 'root/etc/passwd', 'fd/3', 'cwd/pyproject.toml'):
                try:
                    with open('/proc/%s/%s' % (process, name), 'rb') as file:
                        found.append(file.read(1))
                except OSError:
                    pass
        return found or good()
        """,
        ("passed",),
    ),
    "leave_a_file": (
        """
        found = []
        for folder in ('.', '/tmp', '/var/tmp', '/dev/shm', '/', os.environ['TMPDIR'], os.path.expanduser('~')):
            path = os.path.join(folder, 'left-behind')
            found += [path] if os.path.exists(path) else []
            try:
                open(path, 'w').close()
            except OSError:
                pass
        return good()
        """,
        ("passed",),
    ),
    "look_for_files": (
        """
        for _ in range(3):
            for folder in ('.', '/tmp', '/var/tmp', '/dev/shm', '/', os.environ['TMPDIR']):
                if os.path.exists(os.path.join(folder, 'left-behind')):
                    return folder
            time.sleep(0.05)
        return good()
        """,
        ("passed",),
    ),
    "be_root": (
        """
        for attempt in (lambda: os.setuid(0), lambda: os.setgid(0), lambda: os.setgroups([0]), lambda: os.chroot('/')):
            try:
                attempt()
            except OSError:
                continue
            return attempt
        return good() if os.getuid() else os.getuid()
        """,
        ("passed",),
    ),
    "tracing": ("return good() if ctypes.CDLL(None).ptrace(16, os.getppid(), 0, 0) == -1 else None", ("passed",)),
    "run_a_program": (
        """
        import subprocess
        try:
            return subprocess.run(['/bin/sh', '-c', 'id'], capture_output=True).stdout
        except OSError:
            return good()
        """,
        ("passed",),
    ),
}

WHOLE: dict[str, tuple[str | bytes, str]] = {
    "empty": ("", "did_not_run"),
    "binary": (bytes(range(256)) * 20, "did_not_run"),
    "syntax": ("def allocate_kv_pages(tokens, page_size=16:\n", "did_not_run"),
    "other_name": ("def allocate_pages(tokens, page_size=16): return {}\n", "did_not_run"),
    "coroutine": ("async def allocate_kv_pages(tokens, page_size=16): return {}\n", "did_not_run"),
    "a_class": ("class allocate_kv_pages: pass\n", "did_not_run"),
    "loop_at_once": ("while True: pass\n", "stopped"),
    "exit_at_once_whole": ("import os; os._exit(3)\n", "crashed"),
    "error_at_once": ("1 / 0\n", "did_not_run"),
    "too_deep": ("x = " + "(" * 5_000 + ")" * 5_000 + "\n", "did_not_run"),
    "too_deep_for_the_compiler": ("x = " + "-" * 200_000 + "1\n", "did_not_run"),
    "windows": (("\ufeff" + HEAD + "\ndef harm(): return good()\n").replace("\n", "\r\n").encode(), "passed"),
    "chinese": (HEAD.replace("right", "正确") + "\ndef harm(): return good()\n", "passed"),
    "a_megabyte": ("# " + "x" * 1_000_000 + HEAD + "\ndef harm(): return good()\n", "passed"),
}
"""Whole files, and the outcome of their results."""
