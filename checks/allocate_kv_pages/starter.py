def allocate_kv_pages(tokens, page_size=16):
    """Pages held by `tokens` tokens, the tokens that these could store, and the slots left unused."""
    raise NotImplementedError("write allocate_kv_pages")
