"""The shape of a decoder layer, what it weighs, and what a step must at least move."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

DTYPE_BYTES = {"bfloat16": 2, "float16": 2, "float32": 4}


@dataclass(frozen=True, slots=True)
class LayerShape:
    """One decoder layer with grouped-query attention and a gated MLP. Sizes are counts of numbers.

    model_layers: how many layers the whole model has, for extrapolation; 0: this is no model's shape
    source:       where the numbers are from
    """

    name: str
    hidden: int
    heads: int
    kv_heads: int
    head_dim: int
    ff: int
    model_layers: int
    source: str

    @property
    def qkv(self) -> int:
        """Columns of the joint projection to queries, keys and values."""
        return (self.heads + 2 * self.kv_heads) * self.head_dim

    @property
    def weights(self) -> int:
        """Numbers in a layer's matrices: QKV, output, and gate, up and down of the MLP."""
        return self.hidden * self.qkv + self.heads * self.head_dim * self.hidden + 3 * self.hidden * self.ff

    @property
    def kv_token(self) -> int:
        """Numbers that one token stores in a layer: a key and a value for each KV head."""
        return 2 * self.kv_heads * self.head_dim

    def to_dict(self) -> dict[str, Any]:
        """This shape as plain JSON data."""
        return asdict(self)


SHAPES = {
    shape.name: shape
    for shape in (
        LayerShape("llama-3.1-8b", 4096, 32, 8, 128, 14336, 32, "config.json of meta-llama/Llama-3.1-8B"),
        LayerShape("small", 1024, 8, 2, 128, 3584, 0, "a quarter of Llama 3.1 8B each way: fits any GPU, no model"),
        LayerShape("tiny", 64, 4, 2, 16, 96, 0, "for checking on a CPU; no model"),
    )
}


def step_bytes(
    shape: LayerShape, layers: int, dtype: str, tokens: int, decode_lengths: list[int], chunk_lengths: list[int]
) -> int:
    """Bytes that a step must move at the least: all weights once, the KV it reads, and the KV it writes.

    tokens:         tokens computed, each of which stores its KV
    decode_lengths: KV tokens that each decode reads
    chunk_lengths:  KV tokens that each prefill chunk reads back: those stored by earlier chunks

    Activations are left out, so the true need is a little higher: this is a floor.
    """
    size = DTYPE_BYTES[dtype]
    kv = (tokens + sum(decode_lengths) + sum(chunk_lengths)) * shape.kv_token * size
    return layers * (shape.weights * size + kv)
