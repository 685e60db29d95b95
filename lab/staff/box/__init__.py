"""What runs on the learner's side of the pipe: the keeper, which shuts a process off, and the loop in that process.

An interpreter of its own runs it, so it imports nothing of the lab but itself and `lab.grading.child`. It
knows no check, no expected value and no other student's code.

``keeper`` ─ forks ─ ``first`` (process 1 of the new namespaces, where there are any) ─ forks ─ the learner's process
"""
