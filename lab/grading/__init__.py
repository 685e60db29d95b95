"""Checks a learner's solution: one core for the page's worker and for the command line.

Two sides, kept apart. `lab.grading.child` runs inside the learner's interpreter: it executes, calls and reports what
came back, and knows no expected value. Everything else here is the parent's: it asks, compares and judges, and
never executes learner code.
"""
