def scheduler_step(running, waiting, free_pages, max_num_seqs=3, page_size=16):
    active = []
    for request in running:
        tokens = request["tokens"] + 1
        pages = -(-tokens // page_size)
        free_pages -= pages - request["pages"]
        remaining = request["remaining"] - 1
        active.append({"id": request["id"], "tokens": tokens, "remaining": remaining, "pages": pages})

    queue = waiting
    while queue and len(active) < max_num_seqs:
        tokens = queue[0]["prompt_tokens"] + 1
        pages = -(-tokens // page_size)
        if pages > free_pages:
            break
        free_pages -= pages
        request = queue.pop(0)
        remaining = request["output_tokens"] - 1
        active.append({"id": request["id"], "tokens": tokens, "remaining": remaining, "pages": pages})

    done = [request for request in active if request["remaining"] == 0]
    return {
        "running": [request for request in active if request["remaining"] > 0],
        "waiting": queue,
        "completed": [request["id"] for request in done],
        "free_pages": free_pages + sum(request["pages"] for request in done),
    }
