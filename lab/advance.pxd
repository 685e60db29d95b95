# C types of advance.py. `long long`, since `long` has 32 bits in WebAssembly.
cimport cython

ctypedef long long whole

cdef whole NOBODY, NO_BUDGET, SPILL
cdef whole NONE, SEATS, TOKENS, PAGES, BATCH


@cython.final
cdef class Heap:
    cdef whole size
    cdef whole[::1] times, ranks, places

    cdef int push(self, whole rank, whole time) except -1
    @cython.locals(hole=whole, moved=whole, time=whole)
    cdef int remove(self, whole rank) except -1
    cdef int postpone(self, whole time) except -1
    @cython.locals(above=whole)
    cdef int _rise(self, whole hole, whole rank, whole time) except -1
    @cython.locals(below=whole)
    cdef int _sink(self, whole hole, whole rank, whole time) except -1
    cdef int _put(self, whole place, whole rank, whole time) except -1


@cython.final
cdef class Advance:
    cdef whole[::1] arrival, prompt, output, start, finish, preemptions
    cdef whole requests, seats, page_size, budget
    cdef bint chunked, static, spans, bucketed
    cdef whole[::1] left, grows, newer, older, due, ending, gates
    cdef whole budget_left, newest, fresh, running, decoding, resident, free, pages, kv
    cdef whole chunking, to_prefill, chunking_pages, chunking_kv, held_wasted
    cdef Heap growths, ends
    cdef whole ending_count, changed, passed, held
    cdef object spilled
    cdef readonly whole iteration, busy, decoded, preempted, peak_pages, peak_wasted

    cpdef str replay(self, whole last, whole steps)
    @cython.locals(t=whole, needed=whole, victims=whole, left=whole, gate=whole, wasted=whole)
    cdef int _step(self) except -1
    cdef bint _waits(self, whole now) except -1
    @cython.locals(
        newer=whole[::1], grows=whole[::1], finish=whole[::1], needed=whole, rank=whole, stop=whole
    )
    cdef Py_ssize_t _touch(self, whole t) except -1
    @cython.locals(turn=whole, needed=whole, growths=Heap)
    cdef Py_ssize_t _due(self, whole t) except -1
    @cython.locals(rank=whole, left=whole, stored=whole, pages=whole)
    cdef int _preempt(self, whole t) except -1
    cdef int _give_back(self, whole pages, whole stored) except -1
    @cython.locals(chunk=whole, rank=whole)
    cdef int _continue_prefill(self, whole t) except -1
    @cython.locals(gate=whole)
    cdef int _admit(self, whole t) except -1
    @cython.locals(rank=whole)
    cdef Py_ssize_t _head(self) except -1
    @cython.locals(rank=whole, prefill=whole)
    cdef int _gate(self, whole left) except -1
    @cython.locals(requests=whole, rank=whole, prefill=whole, pages=whole)
    cdef int _seat(self, whole t) except -1
    @cython.locals(left=whole, finish=whole, room=whole, grows=whole)
    cdef int _start_decoding(self, whole rank, whole t) except -1
    cdef int _stop_decoding(self, whole rank) except -1
    cdef int _complete(self, whole t) except -1
    @cython.locals(older=whole, newer=whole, stored=whole, pages=whole)
    cdef int _finish(self, whole rank, whole t) except -1
    @cython.locals(t=whole, chunk=whole, shut=whole, last=whole, gate=whole, waits=bint, joined=whole)
    cdef int _span(self) except -1
    @cython.locals(size=whole, turned=whole)
    cdef int _pass(self, whole last, whole chunk) except -1
    @cython.locals(
        due=whole[::1], size=whole, free=whole, pages=whole, kv=whole, held=whole,
        peak=whole, more=whole, t=whole, place=whole, needed=whole
    )
    cdef int _walk(self, whole last, whole chunk) except -1
    @cython.locals(size=whole, decoding=whole, wasted=whole)
    cdef int _turn(self, whole turns, whole chunk) except -1
    cdef int _count(self, whole iterations, whole chunk) except -1
    cdef int _spill(self) except -1
