def allocate_kv_pages(tokens, page_size=16):
    pages = -(-tokens // page_size)
    capacity = pages * page_size
    return {"pages": pages, "capacity": capacity, "wastedSlots": tokens % page_size}
