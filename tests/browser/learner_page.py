"""The lab's page with a runner for learners' code, driven from a test."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from lab_page import LabPage, opened
from playwright.sync_api import Browser

SET_UP = """async (options) => {
    const config = JSON.parse(document.getElementById("site-config").textContent);
    const {LearnerRunner} = await import(new URL(config.folders.assets + "runner.js", document.baseURI));
    window.tried = new LearnerRunner({config, base: document.baseURI, ...options});
    await window.tried.warm();
}"""
CHECK = """async ([exercise, code]) => {
    const told = [];
    const onCheck = (...one) => told.push(one);
    const result = await window.tried.check(exercise, code, {onCheck});
    return JSON.stringify({result, told});
}"""
RUN = """async (code) => {
    const told = [];
    return {...await window.tried.run(code, {onOutput: (text) => told.push(text)}), told: told.join("")};
}"""
REPLAY = "async ([code, trace, limits]) => window.tried.replay('scheduler_step', code, trace, limits)"

# Not by intercepting requests: that would turn the browser's cache off.
NO_APP = """
const Browsers = window.Worker;
window.Worker = class extends Browsers {
    constructor(url, options) {
        super(String(url).endsWith("/worker.js") ? "not-there.js" : url, options);
    }
};
"""

ESCAPE = """
import gc, sys, types
sys.meta_path[:] = [finder for finder in sys.meta_path if getattr(finder, '__name__', '') != 'Hidden']
def attempt(name, action):
    try:
        print(name, 'reached', action())
    except BaseException as error:
        print(name, 'refused', type(error).__name__)
import _pyodide_core
thing = _pyodide_core.to_js([1])
array = thing.constructor
attempt('code', lambda: array.constructor('return globalThis')())
attempt('code by new', lambda: array.constructor.new('return globalThis')())
attempt('code by a method', lambda: thing.map.constructor('return globalThis')())
attempt('js', lambda: __import__('js').postMessage('stolen'))
attempt('bridge', lambda: __import__('pyodide_js').runPython)
attempt('fetch', lambda: __import__('pyodide.http').http.open_url('stolen.json'))
attempt('run_js', lambda: __import__('pyodide.code').code.run_js('postMessage(1)'))
attempt('socket', lambda: __import__('urllib.request').request.urlopen('http://127.0.0.1:1/stolen'))
"""
"""What a learner may try who knows how Pyodide is made: eight ways out, none of which leads anywhere."""

DEADLINE = 2
"""Seconds a check, for tests: shorter than the page's, since many wait for it."""


class LearnerPage:
    """`lab`: the page. `prepare` makes a runner of its own in it, beside the page's."""

    def __init__(self, lab: LabPage) -> None:
        self.lab = lab
        self.page = lab.page

    def prepare(self, **options: Any) -> LearnerPage:
        self.page.evaluate(SET_UP, {"deadline": DEADLINE, **options})
        return self

    def check(self, exercise: str, code: str) -> dict[str, Any]:
        """The result; what was told on the way has to be the same."""
        heard = json.loads(self.page.evaluate(CHECK, [exercise, code]))
        result: dict[str, Any] = heard["result"]
        assert [verdict for verdict, _, _ in heard["told"]] == result["checks"]
        assert [[index, total] for _, index, total in heard["told"]] == [
            [index, len(result["checks"])] for index in range(len(result["checks"]))
        ]
        return result

    def begin_check(self, exercise: str, code: str) -> None:
        """Start a check and go on; `ended` tells what came of it."""
        self.page.evaluate(
            """([exercise, code]) => {
                window.ended = null;
                window.stop = new AbortController();
                window.told = 0;
                const onCheck = () => { window.told++; };
                window.tried.check(exercise, code, {signal: window.stop.signal, onCheck}).then(
                    (result) => { window.ended = JSON.stringify(result); },
                    (error) => { window.ended = error.name; },
                );
            }""",
            [exercise, code],
        )

    def ended(self) -> str | None:
        found: str | None = self.page.evaluate("() => window.ended")
        return found

    def run(self, code: str) -> dict[str, Any]:
        found: dict[str, Any] = self.page.evaluate(RUN, code)
        return found

    def replay(self, code: str, trace: dict[str, Any], limits: dict[str, Any]) -> dict[str, Any]:
        found: dict[str, Any] = self.page.evaluate(REPLAY, [code, trace, limits])
        return found

    def workers(self, script: str) -> int:
        return sum(worker.url.endswith(f"/{script}") for worker in self.page.workers)


@contextmanager
def learner_page(browser: Browser, url: str, **options: Any) -> Iterator[LearnerPage]:
    """A page in a profile of its own. The app does not start in it: a learner's code does not need it."""
    with opened(browser, **options) as lab:
        lab.page.context.add_init_script(NO_APP)
        yield LearnerPage(lab.open(url, ready=False))


class WorkerConsole:
    """Evaluates JavaScript inside a worker, over the browser's own protocol, whatever was taken from it."""

    def __init__(self, learner: LearnerPage, script: str) -> None:
        self.page = learner.page
        self.session = self.page.context.new_cdp_session(self.page)
        self.answers: dict[int, Any] = {}
        attached: list[Any] = []
        self.session.on("Target.attachedToTarget", lambda event: attached.append(event))
        self.session.on("Target.receivedMessageFromTarget", self._hear)
        self.session.send(
            "Target.setAutoAttach", {"autoAttach": True, "waitForDebuggerOnStart": False, "flatten": False}
        )
        while not (found := [a for a in attached if a["targetInfo"]["url"].endswith(f"/{script}")]):
            self.page.wait_for_timeout(20)
        self.target = found[0]["sessionId"]

    def _hear(self, event: Any) -> None:
        message = json.loads(event["message"])
        if "id" in message:
            self.answers[message["id"]] = message["result"]

    def evaluate(self, expression: str) -> Any:
        number = len(self.answers) + 1
        parameters = {"expression": expression, "returnByValue": True, "awaitPromise": True}
        message = {"id": number, "method": "Runtime.evaluate", "params": parameters}
        self.session.send("Target.sendMessageToTarget", {"sessionId": self.target, "message": json.dumps(message)})
        while number not in self.answers:
            self.page.wait_for_timeout(20)
        return self.answers[number]["result"].get("value", self.answers[number])
