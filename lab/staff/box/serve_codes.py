"""Statuses with which the learner's process ends by itself."""

GONE = 70
"""Its own pipes were closed, or its loop was broken."""
