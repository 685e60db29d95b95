"""The side that shares an interpreter with learner code. Standard library only, imports nothing else of `lab`.

It uses relative imports alone, so a host may ship this folder under any name. Learner code can reach these modules:
they hold nothing worth reaching (no expected value, no check but the one that runs), and the parent believes
nothing that it cannot read.
"""
