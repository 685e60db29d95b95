"""What differs between static and continuous batching, and nothing else."""

from __future__ import annotations

from collections.abc import Sequence

from lab.progress import Progress
from lab.values import check_choice
from lab.workload import Limits


class Continuous:
    """Requests join and leave the batch at any iteration."""

    name = "continuous"

    def budget(self, limits: Limits) -> int | None:
        """Tokens that one iteration may compute, None without a budget."""
        return limits.max_num_batched_tokens

    def closed(self, residents: Sequence[Progress]) -> str | None:
        """The gate that keeps everybody out while `residents` hold their seats, or None."""
        return None

    def leaving(self, residents: Sequence[Progress]) -> list[Progress]:
        """Of `residents`, in order, those whose seat and pages are given back after this iteration."""
        return [member for member in residents if member.finished]


class Static(Continuous):
    """A batch is filled when none is resident, and leaves as a whole when its last member has finished."""

    name = "static"

    def budget(self, limits: Limits) -> int | None:
        return None

    def closed(self, residents: Sequence[Progress]) -> str | None:
        return "batch" if residents else None

    def leaving(self, residents: Sequence[Progress]) -> list[Progress]:
        return list(residents) if all(member.finished for member in residents) else []


POLICIES: dict[str, type[Continuous]] = {"static": Static, "continuous": Continuous}


def policy_named(name: str) -> Continuous:
    """The policy called `name`. InputError if there is none."""
    return POLICIES[check_choice(name, "policy", POLICIES)]()
