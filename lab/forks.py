"""A request that asks for several samples prefills its prompt once, and then forks."""

from __future__ import annotations

from lab.blocks import BlockManager
from lab.progress import Progress
from lab.screening import sequence_name
from lab.workload import Request


def fork(parent: Progress, request: Request, pool: BlockManager) -> tuple[list[Progress], int]:
    """Split `parent`, whose prompt is prefilled and whose first token is due, into its request's sequences.

    It stays the first of them; returns the others, in order, and how many pages were copied. All share the pages
    that the prompt fills. The page that the first token goes to is copied if the prompt fills a part of it: each but
    the last takes one of the pages at the end of the parent's table, which were kept for this; the last has the page
    itself.
    """
    shared_pages, in_last = divmod(parent.prompt_tokens, pool.page_size)
    shared = parent.table[:shared_pages]
    own = [*parent.table[shared_pages + 1 :], parent.table[shared_pages]]
    children: list[Progress] = []
    for sample in range(1, parent.samples):
        child = Progress(request, parent.rank)
        child.id = sequence_name(parent.id, sample)
        child.sample = sample
        child.generated = parent.generated
        child.to_prefill = parent.to_prefill
        child.prefilled = parent.prefilled
        child.table = (*pool.fork(shared), own[sample])
        child.seat = parent.kept_seats[sample - 1]
        child.state = parent.state
        child.ran = True
        child.keys = parent.keys
        child.keyed = parent.keyed
        children.append(child)
    parent.table = (*shared, own[0])
    parent.samples = 1
    parent.kept_seats = ()
    return children, len(children) if in_last else 0
