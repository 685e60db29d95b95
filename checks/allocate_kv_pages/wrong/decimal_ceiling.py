from decimal import ROUND_CEILING, Decimal


def allocate_kv_pages(tokens, page_size=16):
    pages = int((Decimal(tokens) / Decimal(page_size)).to_integral_value(ROUND_CEILING))
    capacity = pages * page_size
    return {"pages": pages, "capacity": capacity, "wastedSlots": capacity - tokens}
