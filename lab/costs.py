"""What a step costs in time, and a token in memory."""

from __future__ import annotations

from dataclasses import dataclass

NS_A_SECOND = 10**9


@dataclass(frozen=True, slots=True)
class ModelShape:
    """What decides the size of a model's KV cache; `source` says where the numbers are from."""

    layers: int
    kv_heads: int
    head_size: int
    source: str


MODELS = {
    "llama-3.1-8b": ModelShape(32, 8, 128, "config.json of meta-llama/Llama-3.1-8B"),
    "llama-3.1-70b": ModelShape(80, 8, 128, "config.json of meta-llama/Llama-3.1-70B"),
    "mistral-7b": ModelShape(32, 8, 128, "config.json of mistralai/Mistral-7B-v0.3"),
    "opt-13b": ModelShape(40, 40, 128, "config.json of facebook/opt-13b: every head has keys and values of its own"),
}

KV_DTYPES = {"bf16": 2, "fp8": 1}
"""Bytes a number."""


def kv_bytes_per_token(shape: ModelShape, dtype: str) -> int:
    """Bytes of KV memory a token: a key and a value in each layer, 2 x layers x KV heads x head size x bytes."""
    return 2 * shape.layers * shape.kv_heads * shape.head_size * KV_DTYPES[dtype]


def pages_that_fit(pool_bytes: int, page_size: int, kv_bytes: int) -> int:
    """Whole pages of `page_size` tokens, `kv_bytes` bytes a token, that a pool of `pool_bytes` holds."""
    return pool_bytes // (page_size * kv_bytes)


@dataclass(frozen=True, slots=True)
class StepTime:
    """How long the GPU is busy with a step: reading the weights, or computing the tokens, whichever is longer.

    The roofline of a decoder's dense layers: both overlap, so it is a maximum and not a sum.

    weight_bytes:     read once a step, however many tokens it computes
    memory_bandwidth: bytes a second
    token_ns:         nanoseconds that computing one token takes
    source:           what the numbers are, as a phrase; empty if somebody's own
    """

    weight_bytes: int
    memory_bandwidth: int
    token_ns: int
    source: str = ""

    def ns(self, tokens: int, kv_bytes_read: int = 0) -> int:
        """Nanoseconds, rounded up, of a step that computes `tokens` tokens; 0 if it computes none."""
        if tokens == 0:
            return 0
        return max(transfer_ns(self.weight_bytes + kv_bytes_read, self.memory_bandwidth), tokens * self.token_ns)

    @property
    def floor_ns(self) -> int:
        """Nanoseconds of the shortest step: that of reading the weights."""
        return transfer_ns(self.weight_bytes, self.memory_bandwidth)


def transfer_ns(count: int, bandwidth: int) -> int:
    """Nanoseconds, rounded up, in which `count` bytes pass at `bandwidth` bytes a second."""
    return -(-count * NS_A_SECOND // bandwidth)


STEP_TIMES = {
    # 8,030,261,248 parameters in BF16; 3.35 TB/s: the weights take 4.8 ms. Two operations a parameter and token at
    # the 989 TFLOP/s that the data sheet gives for dense BF16: 16 microseconds.
    "llama-3.1-8b-h100": StepTime(
        16_060_522_496,
        3_350_000_000_000,
        16_000,
        "Llama 3.1 8B in BF16 with the bandwidth and dense BF16 rate of the NVIDIA H100 SXM data sheet",
    ),
    # The same model; 2,039 GB/s: 7.9 ms; 312 TFLOP/s: 51 microseconds.
    "llama-3.1-8b-a100": StepTime(
        16_060_522_496,
        2_039_000_000_000,
        51_000,
        "Llama 3.1 8B in BF16 with the bandwidth and dense BF16 rate of the NVIDIA A100 80 GB SXM data sheet",
    ),
}
