"""Replays for directed tests of options: short to write, and compared with the plain implementation on the way."""

import option_strategies
from option_strategies import Case
from plain_figures import differences, plain_replay

from lab.options import Options
from lab.workload import Limits, Request


def case_of(*requests, seqs, pages, size, budget=None, chunked=False, unit="iteration", **options):
    """A case from ``(id, arrival, prompt_tokens, output_tokens, {further fields})`` tuples."""
    made = [Request(*row[:4], **(row[4] if len(row) > 4 else {})) for row in requests]
    return Case(tuple(made), Limits(seqs, pages, size, budget, chunked), Options(**options), unit)


def replay_of(*requests, policy="continuous", **engine):
    """``metrics``, ``requests`` and ``rows`` of a replay, which the plain implementation agrees with."""
    case = case_of(*requests, **engine)
    replay = option_strategies.replayed(case, policy)
    plain = plain_replay(case.requests, case.limits, policy, case.options, case.unit)
    found = differences(replay, plain)
    assert not found, "\n".join(found[:10])
    return replay


def rows_of(*requests, **engine):
    """The busy rows of ``replay_of``."""
    return [row for row in replay_of(*requests, **engine)["rows"] if "idle" not in row]


def told(rows, *keys):
    """Of each row, the values of ``keys``: one value a row, or a tuple of several."""
    return [row[keys[0]] if len(keys) == 1 else tuple(row[key] for key in keys) for row in rows]
