def allocate_kv_pages(tokens, page_size=16):
    pages = 1
    while pages * page_size < tokens and pages < 100_000:
        pages += 1
    capacity = pages * page_size
    return {"pages": pages, "capacity": capacity, "wastedSlots": capacity - tokens}
