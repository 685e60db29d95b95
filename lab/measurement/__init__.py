"""Measurements of a replay on a real device: read, judged, shown and compared, anywhere and without a device.

They are made by `lab.cuda`, which never goes to the browser; this package does. Standard library only.
"""
