"""The arithmetic of time and money of lab/RULES.md, in whole numbers. Shares nothing with ``lab``."""

from fractions import Fraction

# weight bytes, bytes a second, nanoseconds a token
PRESETS = {
    "llama-3.1-8b-h100": (16_060_522_496, 3_350_000_000_000, 16_000),
    "llama-3.1-8b-a100": (16_060_522_496, 2_039_000_000_000, 51_000),
}
# layers, KV heads, head size
SHAPES = {
    "llama-3.1-8b": (32, 8, 128),
    "llama-3.1-70b": (80, 8, 128),
    "mistral-7b": (32, 8, 128),
    "opt-13b": (40, 40, 128),
}


def upwards(number):
    """The smallest whole number that is no smaller."""
    return -(-number.numerator // number.denominator)


def kv_bytes(options):
    """Bytes of KV memory a token."""
    if options.kv_bytes_per_token is not None:
        return options.kv_bytes_per_token
    layers, heads, size = SHAPES[options.model]
    return 2 * layers * heads * size * {"bf16": 2, "fp8": 1}[options.kv_dtype]


def gpu_ns(options, tokens, kv_read, swapped_bytes):
    """How long the GPU is busy with a step."""
    weights, bandwidth, token_ns = PRESETS[options.step_time]
    weights = options.weight_bytes or weights
    bandwidth = options.memory_bandwidth or bandwidth
    token_ns = options.token_ns or token_ns
    read = weights + (kv_read * kv_bytes(options) if options.kv_read else 0)
    busy = max(upwards(Fraction(read * 10**9, bandwidth)), tokens * token_ns) if tokens else 0
    if options.swap_bandwidth is not None:
        busy += upwards(Fraction(swapped_bytes * 10**9, options.swap_bandwidth))
    return busy


def step_ns(options, gpu):
    """How long a step lasts whose GPU part lasts ``gpu``."""
    scheduler = options.scheduler_us * 1000
    return max(scheduler, gpu) if options.async_scheduling else scheduler + gpu


def idle_iteration_ns(options):
    """How long an idle iteration lasts: as long as reading the weights."""
    weights, bandwidth, _ = PRESETS[options.step_time]
    return upwards(Fraction((options.weight_bytes or weights) * 10**9, options.memory_bandwidth or bandwidth))


def in_units(time, unit, options):
    """``time`` of a trace in ``unit`` as the engine counts it: nanoseconds on the clock of a model, else iterations."""
    if unit == "iteration":
        return time
    ms = Fraction(repr(time)) * (1000 if unit == "s" else 1)
    if options.step_time is not None:
        return upwards(ms * 10**6)
    return upwards(ms / Fraction(repr(options.iteration_ms)))
