"""Learners' code in a real browser: whatever it does, its verdict is right and the page is as it was."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from lab_page import LabPage, opened
from lab_server import LabServer
from learner_page import DEADLINE, ESCAPE, LearnerPage, WorkerConsole, learner_page
from nasty import DEADLY, ENDLESS, ONCE, RAISED, RETURNED, WHOLE, allowed, places, right, solution
from playwright.sync_api import Browser, Error, expect

from lab.exercises import load_all
from lab.grading.grade import grade_here
from lab.replay import run as run_replay
from lab.workload import Trace

ROOT = Path(__file__).resolve().parents[2]
EXERCISES = load_all()
PAGES, STEP = EXERCISES["allocate_kv_pages"], EXERCISES["scheduler_step"]
both = pytest.mark.parametrize("exercise", [PAGES, STEP], ids=lambda exercise: exercise.id)

LOOP = f"{PAGES.reference}\n_f = {PAGES.name}\ndef {PAGES.name}(*args):\n    while True: pass\n"


@pytest.fixture(scope="module")
def learner(browser: Browser, server: LabServer) -> Iterator[LearnerPage]:
    """One page with the app running and something saved, for the tests that leave it as it is."""
    with opened(browser) as lab:
        found = LearnerPage(lab.open(server.url))
        found.page.evaluate("() => localStorage.setItem('work of another exercise', 'def f(): ...')")
        yield found.prepare(spare=True)


def saved(learner: LearnerPage) -> str:
    found: str = learner.page.evaluate("() => JSON.stringify(Object.entries(localStorage).sort())")
    return found


def course() -> dict[str, Any]:
    document: dict[str, Any] = json.loads((ROOT / "traces" / "course.json").read_text(encoding="utf-8"))
    return document


def trace_and_limits(trace: Trace | None = None, **changes: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """The course as a replay document has it, with its limits changed."""
    from app.page.main import course_trace

    document = run_replay(trace or course_trace()).to_document()
    return document["trace"], {**document["limits"], **changes}


# ---- the verdict is the same as on the command line ------------------------------------------------------------------


@both
def test_a_result_is_the_same_object_as_from_lab_grading(learner, exercise):
    wrong = [entry.code for entry in exercise.wrong[:2]]
    for source in (exercise.reference, exercise.starter, *wrong):
        assert learner.check(exercise.id, source) == plain(grade_here(exercise, source, hidden=False))


@both
def test_what_is_returned_is_judged_as_on_the_command_line(learner, exercise):
    """None, floats, bools, NaN, subclasses that equal everything, what refers to itself: word for word the same."""
    source, chosen = solution(exercise, list(RETURNED))
    result = learner.check(exercise.id, source)
    assert outcomes(result, chosen) == dict.fromkeys(RETURNED, "failed")
    assert result == plain(grade_here(exercise, source, hidden=False))


def plain(result: dict[str, Any]) -> dict[str, Any]:
    copied: dict[str, Any] = json.loads(json.dumps(result))
    return copied


def outcomes(result: dict[str, Any], chosen: dict[int, str]) -> dict[str, str]:
    return {name: result["checks"][index]["outcome"] for index, name in chosen.items()}


# ---- the nasty list --------------------------------------------------------------------------------------------------


@both
@pytest.mark.parametrize("kind", [ENDLESS, DEADLY, RAISED], ids=["endless", "deadly", "raised"])
def test_each_ends_as_it_should_and_the_other_checks_run(learner, exercise, kind):
    before = saved(learner)
    room = len(places(exercise)) - 3  # so that some are left that have to pass
    names = list(kind)
    for part in [names[at : at + room] for at in range(0, len(names), room)]:
        source, chosen = solution(exercise, part)
        result = learner.check(exercise.id, source)
        for name, outcome in outcomes(result, chosen).items():
            assert outcome in allowed(ONCE[name][1]), (name, result["checks"])
        others = [check for index, check in enumerate(result["checks"]) if index not in chosen]
        assert {check["outcome"] for check in others} == {"passed"}, others
        assert len(result["checks"]) == len(exercise.visible)
        said = {name: result["checks"][index]["message"] for index, name in chosen.items()}
        if "loop" in said:
            assert said["loop"] == said["sleep"] == f"There was no result within {DEADLINE} s."
    honest(learner, exercise)
    assert saved(learner) == before
    assert learner.lab.troubles == []


@both
def test_sources_that_give_nothing_to_check(learner, exercise):
    for name, (source, outcome) in WHOLE.items():
        result = learner.check(exercise.id, source.replace("NAME", exercise.name))
        assert result["outcome"] == outcome, (name, result["problem"])
        assert len(result["checks"]) == len(exercise.visible)
        if outcome != "failed":
            assert result["problem"]["message"], name
            assert {check["message"] for check in result["checks"]} == {"The check was not run."}
    honest(learner, exercise)


@both
def test_unusual_sources_that_are_right(learner, exercise):
    for name, source in right(exercise).items():
        result = learner.check(exercise.id, source)
        assert (result["outcome"], result["points"]) == ("passed", result["max_points"]), (name, result)


def honest(learner: LearnerPage, exercise: Any) -> None:
    """The next honest run is clean."""
    assert learner.check(exercise.id, exercise.reference) == plain(
        grade_here(exercise, exercise.reference, hidden=False)
    )


def test_arguments_that_are_changed_are_reported(learner):
    source = f"{STEP.reference}\n_f = {STEP.name}\ndef {STEP.name}(running, *rest):\n    made = _f(running, *rest)\n"
    source += "    running.append(1)\n    return made\n"
    result = learner.check(STEP.id, source)
    assert any(check["mutated"] == ["running"] and check["outcome"] == "failed" for check in result["checks"])
    assert result == plain(grade_here(STEP, source, hidden=False))


def test_a_grader_that_was_tampered_with_judges_the_next_run_honestly(learner):
    """What a learner does to the grader's modules lasts for that learner's own run, and no longer."""
    source = "import lab.grading.child.call as call\ncall.encode = lambda value: ['int', 1]\n" + (PAGES.reference or "")
    assert learner.check(PAGES.id, source)["outcome"] == "failed"
    honest(learner, PAGES)


# ---- the page meanwhile ----------------------------------------------------------------------------------------------


def test_the_page_stays_live_while_code_loops_and_prints(learner):
    learner.begin_check(PAGES.id, LOOP.replace("while True: pass", "while True: print('x' * 1000)"))
    for iteration, words in ((14, "finished"), (15, "seat 1")):
        learner.lab.seek(iteration)
        expect(learner.lab.side("continuous").locator(".words")).to_contain_text(words)
    assert learner.ended() is None
    learner.page.evaluate("() => window.stop.abort()")
    learner.page.wait_for_function("() => window.ended !== null")
    assert learner.ended() == "AbortError"


def test_stop_at_any_moment(learner):
    before = """([exercise, code]) => {
        const stop = new AbortController();
        stop.abort();
        return window.tried.check(exercise, code, {signal: stop.signal}).then(() => "ended", (error) => error.name);
    }"""
    assert learner.page.evaluate(before, [PAGES.id, PAGES.reference]) == "AbortError"
    for told in (0, 3):
        source = LOOP if told == 0 else solution(PAGES, ["None", "a float", "a bool", "loop"])[0]
        learner.begin_check(PAGES.id, source)
        learner.page.wait_for_function("(told) => window.told >= told", arg=told)
        learner.page.evaluate("() => window.stop.abort()")
        learner.page.wait_for_function("() => window.ended !== null")
        assert learner.ended() == "AbortError"
    honest(learner, PAGES)


def test_an_answer_in_time_counts_although_the_page_was_held_up(learner):
    """The page's own clock is late when the page is; the learner is not to pay for it."""
    code = "import time\nuntil = time.monotonic() + 0.3\nwhile time.monotonic() < until: pass\nprint('done')"
    outcome = learner.page.evaluate(
        """async ([code, ms]) => {
            const ended = window.tried.run(code);
            await new Promise((resolve) => setTimeout(resolve, 200));
            const until = performance.now() + ms;
            while (performance.now() < until) { /* the page is busy */ }
            return (await ended).outcome;
        }""",
        [code, DEADLINE * 1000 + 500],
    )
    assert outcome == "ran"


def test_a_reload_in_the_middle_of_a_check(browser, server):
    with learner_page(browser, server.url) as learner:
        learner.prepare().begin_check(PAGES.id, LOOP)
        learner.page.reload()
        learner.page.wait_for_selector(".side")
        honest(learner.prepare(), PAGES)


def test_two_tabs_at_once(browser, server):
    with learner_page(browser, server.url) as one:
        two = LearnerPage(LabPage(one.page.context.new_page()).open(server.url, ready=False))
        one.prepare().begin_check(PAGES.id, LOOP)
        two.prepare()
        honest(two, STEP)
        one.page.evaluate("() => window.stop.abort()")
        honest(one, PAGES)


def test_without_the_app_without_storage_and_without_a_spare(browser, server):
    """Panel that does not start keeps nobody from checking code; neither does a browser that stores nothing."""
    with learner_page(browser, server.url) as learner:
        learner.page.add_init_script(
            "Object.defineProperty(window, 'localStorage', {get() { throw new DOMException('no', 'SecurityError'); }})"
        )
        learner.page.reload()
        learner.page.wait_for_selector("html[data-python=failed]")
        learner.prepare(spare=False)
        honest(learner, PAGES)
        source, chosen = solution(PAGES, ["loop", "os._exit(0)"])
        result = learner.check(PAGES.id, source)
        assert outcomes(result, chosen) == {"loop": "stopped", "os._exit(0)": "crashed"}
        assert learner.workers("learner.js") <= 2  # one of the page's own runner, one of ours


def test_a_start_without_a_connection_says_so_and_can_be_tried_again(browser, server):
    with learner_page(browser, server.url) as learner:
        learner.page.route("**/stdlib.zip", lambda route: route.abort())
        with pytest.raises(Error, match=r"stdlib\.zip could not be fetched: there is no connection"):
            learner.prepare()
        learner.page.unroute("**/stdlib.zip")
        learner.page.evaluate("() => window.tried.warm()")
        honest(learner, PAGES)


def test_after_the_server_was_stopped(browser, site):
    """Fresh interpreters start from what is there, also where no service worker keeps it."""
    with LabServer(site) as server, learner_page(browser, server.url, service_workers="block") as learner:
        learner.prepare()
        server.stop()
        source, chosen = solution(PAGES, ["os._exit(0)", "os.abort()"])
        assert set(outcomes(learner.check(PAGES.id, source), chosen).values()) == {"crashed"}
        honest(learner, PAGES)


# ---- running and replaying -------------------------------------------------------------------------------------------


def test_run_shows_what_is_printed_and_the_learners_own_lines(learner):
    done = learner.run("print('one')\nimport sys\nprint('two', file=sys.stderr)\nif __name__ == '__main__': print(3)")
    assert (done["outcome"], done["output"], done["error"]) == ("ran", "one\ntwo\n3\n", None)
    assert done["told"] == done["output"] and done["bytes"] == 10 and not done["truncated"]
    failed = learner.run("import json\ndef f(x):\n    return json.loads(x)\n\nprint('before')\nf('{')\n")
    error = failed["error"]
    assert (failed["outcome"], failed["output"]) == ("failed", "before\n")
    assert (error["type"], error["line"], error["text"]) == ("JSONDecodeError", 3, "return json.loads(x)")
    assert [frame["line"] for frame in error["frames"]] == [6, 3]  # none of json's own lines, and none of ours
    syntax = learner.run("print('never')\nx = (1,\n")
    assert (syntax["outcome"], syntax["error"]["type"], syntax["output"]) == ("did_not_run", "SyntaxError", "")
    assert syntax["error"]["line"] == 2 and syntax["error"]["text"] == "x = (1,"


def test_run_keeps_what_was_printed_before_a_loop_or_an_exit(learner):
    for end, outcome in (("while True: pass", "stopped"), ("import os\nos._exit(1)", "crashed")):
        done = learner.run(f"print('a')\nprint('b')\n{end}")
        assert (done["outcome"], done["output"]) == (outcome, "a\nb\n")
        assert done["error"]["message"] and done["error"]["type"] == ""


def test_run_keeps_64_kib_and_counts_the_rest(learner):
    done = learner.run("for i in range(3000): print('é' * 49)")
    assert len(done["output"].encode()) in range(64 * 1024 - 1, 64 * 1024 + 1)
    assert (done["outcome"], done["bytes"], done["truncated"]) == ("ran", 3000 * 99, True)
    assert done["told"] == done["output"]
    flood = learner.run("while True: print('x' * 10_000)")
    assert (flood["outcome"], flood["truncated"]) == ("stopped", True)


def test_the_reference_replays_as_the_engine_does(learner):
    trace, limits = trace_and_limits()
    replayed = learner.replay(STEP.reference, trace, limits)
    assert (replayed["departure"], replayed["stopped"], replayed["problem"]) == (None, None, None)
    policy = replayed["policy"]
    assert (policy["metrics"]["iterations"], policy["metrics"]["wait_p95"]) == (88, 7)
    from app.page.main import course_trace

    engine = plain(run_replay(course_trace()).to_document())["policies"]["continuous"]
    assert policy["metrics"] == engine["metrics"]
    assert policy["requests"] == engine["requests"]
    assert policy["rows"] == engine["rows"]


def test_budget_and_chunks_are_off_and_a_dry_pool_ends_the_replay(learner):
    trace, limits = trace_and_limits(max_num_batched_tokens=48, chunked_prefill=True)
    assert learner.replay(STEP.reference, trace, limits)["policy"]["metrics"]["iterations"] == 88
    dry = learner.replay(STEP.reference, trace, {**limits, "num_pages": 14})
    assert dry["stopped"]["reason"] == "dry" and "preempts" in dry["stopped"]["words"]
    assert dry["policy"]["rows"]


def test_code_that_breaks_in_the_middle_of_a_replay(learner):
    """What was replayed until then comes back, with the reason and the learner's line."""
    trace, limits = trace_and_limits()
    for end, words, line in (
        ("while True: pass", f"There was no result within {DEADLINE} s.", None),
        ("1 / 0", "ZeroDivisionError", True),
        ("import os\n        os._exit(0)", "exited", None),
        ("import sys\n        sys.exit()", "ended Python", True),
    ):
        source = f"{STEP.reference}\n_f, seen = {STEP.name}, []\ndef {STEP.name}(*args):\n    seen.append(1)\n"
        source += f"    if len(seen) == 40:\n        {end}\n    return _f(*args)\n"
        replayed = learner.replay(source, trace, limits)
        stopped = replayed["stopped"]
        assert (stopped["iteration"], len(replayed["policy"]["rows"])) == (40, 39), stopped
        assert words in stopped["words"]
        assert (stopped["line"] is not None) == (line is not None)
        assert replayed["departure"] is None


def test_where_a_step_departs_from_the_engine(learner):
    trace, limits = trace_and_limits()
    (static,) = [wrong for wrong in STEP.wrong if wrong.file == "static_batching.py"]
    replayed = learner.replay(static.code, trace, limits)
    assert replayed["departure"]["iteration"] > 1
    assert replayed["departure"]["reason"] in replayed["departure"]["words"]
    broken = learner.replay("def scheduler_step(:", trace, limits)
    assert broken["problem"]["outcome"] == "did_not_run" and broken["problem"]["line"] == 1
    assert broken["policy"]["rows"] == [] and broken["stopped"]["line"] == 1


def test_limits_that_make_no_sense_are_refused_in_one_sentence(learner):
    trace, limits = trace_and_limits()
    with pytest.raises(Error, match="num_pages"):
        learner.replay(STEP.reference, trace, {**limits, "num_pages": 0})
    with pytest.raises(Error, match="There is no exercise"):
        learner.check("nothing", "")


# ---- what learners' code can reach -----------------------------------------------------------------------------------

GONE = (
    *("fetch", "XMLHttpRequest", "WebSocket", "EventSource", "WebTransport", "indexedDB", "caches", "localStorage"),
    *("BroadcastChannel", "MessageChannel", "MessagePort", "Worker", "SharedWorker", "importScripts", "navigator"),
    *("postMessage", "onmessage", "addEventListener", "location", "self", "close", "setInterval", "FileReaderSync"),
    *("Request", "Response", "Blob", "URL", "eval", "RTCPeerConnection", "Notification", "MessageEvent"),
)
LEFT = """(() => {
    const names = new Set();
    for (let part = globalThis; part && part !== Object.prototype; part = Object.getPrototypeOf(part)) {
        for (const name of Object.getOwnPropertyNames(part)) if (globalThis[name] !== undefined) names.add(name);
    }
    return JSON.stringify([...names]);
})()"""
CODE_FROM_TEXT = """(() => {
    const kinds = [() => {}, function () {}, async () => {}, function* () {}, async function* () {}, Array.from];
    const made = kinds.map((kind) => {
        try { return typeof kind.constructor("return 1"); } catch { return "refused"; }
    });
    globalThis.made = 0;
    try { setTimeout("globalThis.made = 1"); } catch { /* that is fine too */ }
    return new Promise((resolve) => setTimeout(() => resolve(JSON.stringify([made, globalThis.made])), 50));
})()"""


def without_policy(route: Any) -> None:
    answer = route.fetch()
    headers = {name: value for name, value in answer.headers.items() if name != "content-security-policy"}
    route.fulfill(response=answer, headers=headers)


@pytest.mark.parametrize("headers", [True, False], ids=["our headers", "no headers"])
def test_nothing_of_the_browser_is_left_in_the_learners_worker(browser, server, headers):
    """Neither for JavaScript inside the worker, nor for Python through the bridge's own machinery."""
    with learner_page(browser, server.url) as learner:
        if not headers:  # as on a host of static files that sends none of ours
            learner.page.route("**/learner.js", without_policy)
        asked: list[str] = []
        learner.page.on("request", lambda request: asked.append(request.url))
        learner.prepare(spare=False)
        console = WorkerConsole(learner, "learner.js")
        left = json.loads(console.evaluate(LEFT))
        assert not set(left) & set(GONE)
        assert len(left) < 90, left  # JavaScript's own names and a handful of the browser's
        made, ran = json.loads(console.evaluate(CODE_FROM_TEXT))
        assert set(made) == {"refused"} and ran == 0
        if headers:
            blocked = "import('data:text/javascript,export default 1').then(() => 'imported', () => 'refused')"
            assert console.evaluate(blocked) == "refused"
        done = learner.run(ESCAPE)
        assert done["outcome"] == "ran", done
        assert "reached" not in done["output"], done["output"]
        assert done["output"].count("refused") == 8
        assert not [url for url in asked if "stolen" in url]
        honest(learner, PAGES)
        learner.page.unroute_all(behavior="ignoreErrors")  # a next interpreter may be starting as the page goes


def test_a_message_that_is_forged_is_not_heard(learner):
    """Even with the port in hand: only the token of the request under way is answered for, and it is new each time."""
    heard = learner.page.evaluate(
        """async () => {
            const config = JSON.parse(document.getElementById("site-config").textContent);
            const assets = new URL(config.folders.assets, document.baseURI);
            const {LearnerWorker} = await import(new URL("runner-worker.js", assets));
            const ports = [];
            const Channel = window.MessageChannel;
            window.MessageChannel = function () { const made = new Channel(); ports.push(made); return made; };
            const worker = new LearnerWorker(() => {});
            window.MessageChannel = Channel;
            const theirs = ports[0].port1; // the page's own end, to put messages into its hands
            theirs.onmessage({data: {type: "ready"}});
            await worker.ready;
            const told = [];
            const onPart = (text) => told.push(text);
            const ended = worker.ask("run", ["{}"], {seconds: 1, onPart});
            const forged = [
                null, 7, "answer", {type: "answer", text: "{}"}, {type: "answer", token: "", text: "{}"},
                {type: "part", token: undefined, text: "x"}, {type: "ended", ended: "exit"},
            ];
            for (const data of forged) theirs.onmessage({data});
            return [await ended, told];
        }"""
    )
    assert heard == [{"ended": "time", "detail": 1}, []]


def test_a_spare_is_kept_only_where_there_is_room(learner):
    room = learner.page.evaluate(
        """async () => {
            const config = JSON.parse(document.getElementById("site-config").textContent);
            const {roomForSpare} = await import(new URL(config.folders.assets + "runner-room.js", document.baseURI));
            const linux = "Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0";
            const mac = "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7)";
            return [
                {userAgent: linux}, {userAgent: linux, deviceMemory: 8}, {userAgent: linux, deviceMemory: 4},
                {userAgent: mac}, {userAgent: linux, deviceMemory: 2}, {userAgent: mac, maxTouchPoints: 5},
                {userAgent: "Mozilla/5.0 (Linux; Android 14) Chrome/140.0 Mobile", deviceMemory: 8},
                {userAgent: linux, deviceMemory: 8, userAgentData: {mobile: true}},
                {userAgent: "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X)"},
            ].map((device) => roomForSpare(device));
        }"""
    )
    assert room == [True, True, True, True, False, False, False, False, False]
