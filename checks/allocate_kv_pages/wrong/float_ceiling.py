import math


def allocate_kv_pages(tokens, page_size=16):
    pages = math.ceil(tokens / page_size)
    capacity = pages * page_size
    return {"pages": pages, "capacity": capacity, "wastedSlots": capacity - tokens}
