"""The optional CUDA backend: a simulated replay, executed on a real GPU.

The one place of the lab that may import torch and triton, and nothing imports those at start: of these modules
`detect`, `shapes`, `plan`, `fit`, `memory`, `document`, `job`, `spawn`, `running` and `command` use the standard
library only. The others run in a child process, `child`, which can die without whoever asked. What comes of it is a
measurement: `lab.measurement` reads it anywhere, and says what no GPU has confirmed yet.
"""
