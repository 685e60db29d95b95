def allocate_kv_pages(tokens, page_size=16):
    pages = -(-tokens // 16)
    capacity = pages * 16
    return {"pages": pages, "capacity": capacity, "wastedSlots": capacity - tokens}
