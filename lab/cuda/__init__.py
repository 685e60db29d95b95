"""The optional CUDA backend: a simulated replay, executed on a real GPU.

The one place of the lab that may import torch and triton, and nothing imports those at start: of these modules
`detect`, `shapes`, `plan`, `fit`, `document`, `job` and `run` use the standard library only. The others (`kernels`,
`pool`, `attention`, `reference`, `layers`, `stopwatch`, `replayer`, `compare`, `measure`) run in a child process,
`child`, which can die without whoever asked.

What no GPU has confirmed yet is listed in `lab.cuda.document.UNCONFIRMED`.
"""
