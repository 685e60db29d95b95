def allocate_kv_pages(tokens, page_size=16):
    pages = -(-tokens // page_size)
    capacity = pages * page_size
    print({"pages": pages, "capacity": capacity, "wastedSlots": capacity - tokens})
