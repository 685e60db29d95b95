"""Pages, their owners and their keys, as plainly as lab/RULES.md puts them. Shares nothing with ``lab``."""


def pages_for(tokens, page_size):
    """Pages that hold ``tokens`` tokens: the smallest whole number that is enough."""
    pages = 0
    while pages * page_size < tokens:
        pages += 1
    return pages


class Pool:
    """The pages 0 … num_pages − 1: who owns each, which are free in which order, which are known by a key.

    caching: pages have keys, and a released table joins the free queue from its end
    slabs:   pages are taken in runs of consecutive ids, so the order of the free ones means nothing
    """

    def __init__(self, num_pages, caching, slabs):
        self.count = [0] * num_pages
        self.free = list(range(num_pages))
        self.caching = caching
        self.slabs = slabs
        self.known = {}  # key -> page
        self.twice = False  # whether a page was filled with what another is known for

    def take(self, wanted):
        """The first ``wanted`` pages of the free queue; what they held is forgotten."""
        taken = [self.free.pop(0) for _ in range(wanted)]
        for page in taken:
            assert self.count[page] == 0
            self.count[page] = 1
            self.forget(page)
        return taken

    def forget(self, page):
        self.known = {key: other for key, other in self.known.items() if other != page}

    def run_of(self, wanted):
        """The lowest run of ``wanted`` free pages, or None."""
        for first in range(len(self.count) - wanted + 1):
            run = list(range(first, first + wanted))
            if all(self.count[page] == 0 for page in run):
                return run
        return None

    def take_run(self, wanted):
        run = self.run_of(wanted)
        for page in run:
            self.count[page] = 1
            self.free.remove(page)
        return run

    def longest_run(self):
        longest = 0
        while self.run_of(longest + 1) is not None:
            longest += 1
        return longest

    def share(self, page):
        """One more owner, also of a page that is free: it leaves the queue and keeps its key."""
        if self.count[page] == 0:
            self.free.remove(page)
        self.count[page] += 1

    def give_back(self, table):
        for page in reversed(table) if self.caching else table:
            assert self.count[page] > 0
            self.count[page] -= 1
            if self.count[page] == 0:
                self.free.append(page)

    def register(self, page, key):
        """``page`` is full: it is known by ``key``, unless another is."""
        self.twice = self.twice or self.known.get(key, page) != page
        if key not in self.known and page not in self.known.values():
            self.known[key] = page

    def hits(self, keys):
        """The known pages for the first of ``keys``, up to the first that is unknown."""
        found = []
        for key in keys:
            if key not in self.known:
                break
            found.append(self.known[key])
        return found

    def check(self, tables):
        """Every page has as many owners as its count says, and is free exactly when it has none."""
        for page, count in enumerate(self.count):
            assert count == sum(table.count(page) for table in tables)
            assert (page in self.free) == (count == 0)
        assert len(self.free) == len(set(self.free))


class Sequence:
    """What has a seat, a table and a place in ``waiting``. ``place`` is that of its request in order of arrival."""

    def __init__(self, request, place, samples, sample=1):
        self.request = request
        self.id = request.id if sample == 1 else f"{request.id}#{sample}"
        self.order = (place, sample)
        self.to_fork = samples  # sequences that it still has to become; 1 once it has forked
        self.generated = 0
        self.table = []
        self.seat = None
        self.kept_seats = []
        self.to_prefill = 0  # what the latest admission has to prefill, and how much of that there is
        self.prefilled = 0
        self.on_host = 0  # pages, while it is swapped out
        self.ever_admitted = False
        self.was_preempted = False
        self.times = []  # when its tokens appeared, in nanoseconds

    def finished(self):
        return self.generated == self.request.output_tokens

    def prefilling(self):
        return self.prefilled < self.to_prefill

    def kv(self):
        if self.prefilling():
            return self.prefilled
        return self.request.prompt_tokens + self.generated

    def keys(self, pages, page_size):
        """The keys of its first ``pages`` pages: each the chain of what it and those before it hold."""
        chain, keys = (), []
        for i in range(pages):
            given = self.request.prefix or ()
            if i >= self.request.prompt_tokens // page_size:
                content = ("sequence", self.id, i)
            elif i < len(given):
                content = ("given", type(given[i]).__name__, given[i])
            else:
                content = ("request", self.request.id, i)
            chain = (*chain, content)
            keys.append(chain)
        return keys


class Visit:
    """What becomes of one request."""

    def __init__(self, request, place):
        self.request = request
        self.place = place
        self.client = getattr(request, "client", None) or ""
        self.sequences = []
        self.joined = None  # the iteration in which it joined
        self.arrived_ns = 0
        self.start = None
        self.finish = None
        self.preemptions = 0
        self.fate = None  # completed, cancelled or limit
        self.left = False  # whether its client has left


def samples_of(request, options):
    """Sequences that ``request`` becomes."""
    return (request.samples or 1) if options.fork_samples else 1
