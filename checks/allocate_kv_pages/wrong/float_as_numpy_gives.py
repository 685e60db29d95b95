import math


def allocate_kv_pages(tokens, page_size=16):
    pages = float(math.ceil(tokens / page_size))
    capacity = int(pages * page_size)
    return {"pages": pages, "capacity": capacity, "wastedSlots": capacity - tokens}
