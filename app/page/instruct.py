"""What the page asks for an instructor: to generate a trace, to search for one.

Messages are plain JSON data. Everything that can be refused is answered with one sentence, and changes nothing.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from app.page.asked import MOST_REQUESTS, options_asked, trace_asked
from lab.errors import InputError
from lab.formats.trace_json import trace_to_dict
from lab.generate import generate
from lab.near import MOST_TRIES, Search, goal_from
from lab.recipe import command, recipe_from
from lab.values import check_integer
from lab.workload import Trace


class Workshop:
    """Generates and searches for the page; `answer(name, data)` posts a message to it."""

    SLICE = 0.15
    """Seconds that one call of `search` goes on searching, so that the page can stop, and everything else gets on."""

    def __init__(self, answer: Callable[[str, Any], None], now: Callable[[], float] = time.monotonic) -> None:
        self._answer = answer
        self._now = now
        self._search: Search | None = None
        self._searched: tuple[Any, ...] = ()

    def generate(self, asked: Mapping[str, Any]) -> None:
        """``{"recipe": as lab.recipe says, "serial"}``.

        Answered by ``generated {"serial", "trace": trace file, "command": the command line, without limits}``, or by
        ``generate_refused {"serial", "field", "why"}``, with fields such as ``arrivals.gap``.
        """
        serial = asked["serial"]
        try:
            recipe = recipe_from(asked["recipe"])
            if recipe.requests > MOST_REQUESTS:
                raise InputError(
                    f"{recipe.requests} are more than the page draws, at most {MOST_REQUESTS}; "
                    "the command line makes more",
                    field="requests",
                )
        except InputError as error:
            self._answer("generate_refused", {"serial": serial, "field": error.field, "why": error.problem})
            return
        trace = trace_to_dict(generate(recipe))
        self._answer("generated", {"serial": serial, "trace": trace, "command": command(recipe, limits=False)})

    def search(self, asked: Mapping[str, Any]) -> None:
        """``{"trace", "limits", "options": as in `open_trace`, "goal": as lab.near says, "seed", "tried", "serial"}``.

        Searches for a slice of time. Answered by ``search_step {"serial", "tried", "most", "found": trace file | None,
        "best": value closest to the goal, "done", "field", "why"}``. As long as it is not done, the page calls again
        with the `tried` that it was told. A trace that was found may still get nearer until it is done. Where `why` is
        a sentence, the question made no sense.
        """
        told: dict[str, Any] = {"serial": asked["serial"], "tried": 0, "most": MOST_TRIES, "found": None, "best": None}
        try:
            trace, limits = trace_asked(asked)
            search = self._at(replace(trace, limits=limits, options=options_asked(asked, trace)), asked)
        except InputError as error:
            self._answer("search_step", {**told, "done": True, "field": error.field, "why": str(error)})
            return
        ends = self._now() + self.SLICE
        while not search.done and self._now() < ends:
            search.step()
        found = search.found
        if found is not None:
            found = replace(found, limits=trace.limits, options=trace.options)
        told |= {
            "tried": search.tried,
            "found": found and trace_to_dict(found),
            "best": search.best,
            "done": search.done,
        }
        self._answer("search_step", {**told, "field": None, "why": None})

    def _at(self, trace: Trace, asked: Mapping[str, Any]) -> Search:
        """The search that was asked for, where it was asked to go on."""
        goal = goal_from(asked["goal"])
        seed = check_integer(asked["seed"], "seed", 0)
        tried = check_integer(asked["tried"], "tried", 0)
        searched = (trace, goal, seed)
        search = self._search
        if search is None or self._searched != searched or search.tried != tried:
            search = Search(trace, goal, seed)
            while search.tried < tried and not search.done:
                search.step()
        self._search, self._searched = search, searched
        return search
