"""Benchmarks of the core: workloads, and measuring them in whichever Python runs this. Standard library only."""
