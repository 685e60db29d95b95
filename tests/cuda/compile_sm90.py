"""Compiles the kernels for sm_90 without a GPU, and prints what came of each as JSON. Run without the interpreter."""

from __future__ import annotations

import json
import sys

from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource, compile

from lab.cuda import kernels
from lab.cuda.attention import TILE, WARPS
from lab.cuda.shapes import SHAPES

H200 = GPUTarget("cuda", 90, 32)


def compiled(kernel, types: dict[str, str], constants: dict[str, int]) -> dict[str, object]:
    """Bytes of the cubin and of shared memory, and whether it uses matrix units and fetches ahead."""
    signature = {name: types.get(name, "constexpr") for name in kernel.arg_names}
    # As at a launch: PyTorch's memory begins at a multiple of 16, and only so are loads wide, and fetched ahead.
    aligned = [(at,) for at, name in enumerate(kernel.arg_names) if types.get(name, "").startswith("*")]
    source = ASTSource(
        fn=kernel,
        signature=signature,
        constexprs={(kernel.arg_names.index(k),): v for k, v in constants.items()},
        attrs={place: [["tt.divisibility", 16]] for place in aligned},
    )
    made = compile(source, target=H200, options={"num_warps": WARPS})
    ptx = made.asm["ptx"]
    return {
        "cubin": len(made.asm["cubin"]),
        "shared": made.metadata.shared,
        "matrix_units": "mma" in ptx,
        "fetches_ahead": "cp.async" in ptx,
    }


def main() -> None:
    shape = SHAPES["llama-3.1-8b"]
    row = shape.kv_heads * shape.head_dim
    report = {}
    for dtype in ("bf16", "fp16", "fp32"):
        pointer = f"*{dtype}"
        report[f"append {dtype}"] = compiled(
            kernels.append_kernel,
            {**dict.fromkeys(("k_ptr", "v_ptr", "k_pool_ptr", "v_pool_ptr"), pointer), "slots_ptr": "*i64"},
            {"ROW": row, "BLOCK": row},
        )
        types = {
            **dict.fromkeys(("q_ptr", "k_pool_ptr", "v_pool_ptr", "out_ptr"), pointer),
            **dict.fromkeys(("tables_ptr", "lengths_ptr"), "*i32"),
            **dict.fromkeys(("part_ptr", "part_max_ptr", "part_sum_ptr"), "*fp32"),
            "scale": "fp32",
            "table_width": "i32",
        }
        for parts in (1, 8):
            report[f"decode {dtype}, {parts} parts"] = compiled(
                kernels.decode_kernel,
                types,
                {
                    "KV_HEADS": shape.kv_heads,
                    "GROUP": shape.heads // shape.kv_heads,
                    "ROWS": 16,
                    "HEAD_DIM": shape.head_dim,
                    "PAGE_SIZE": 16,
                    "TILE": TILE,
                    "PARTS": parts,
                    "EXACT": dtype == "fp32",
                },
            )
        report[f"combine {dtype}"] = compiled(
            kernels.combine_kernel,
            {**dict.fromkeys(("part_ptr", "part_max_ptr", "part_sum_ptr"), "*fp32"), "out_ptr": pointer},
            {"HEAD_DIM": shape.head_dim, "PARTS": 8, "SLOTS": 8},
        )
    json.dump(report, sys.stdout, indent=1)


if __name__ == "__main__":
    main()
