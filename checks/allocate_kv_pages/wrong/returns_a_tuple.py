def allocate_kv_pages(tokens, page_size=16):
    pages = -(-tokens // page_size)
    return pages, pages * page_size, pages * page_size - tokens
