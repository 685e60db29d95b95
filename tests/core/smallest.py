"""The smallest exercise that is in order, and its one check: tests change a thing about them and see what is said."""

EXERCISE = {
    "schema_version": 1,
    "title": "Double",
    "entry": {"name": "double", "kind": "function"},
    "statement": ["Double it."],
    "signature": "double(x)",
    "inputs": [{"name": "x", "type": "int", "text": "a number"}],
    "returns": [{"name": "result", "type": "int", "text": "twice that"}],
    "rule": "x + x",
    "example": {"arguments": [1], "expected": 2, "text": "1 + 1"},
    "hints": ["Add."],
    "points": {"visible": 2, "hidden": 0},
    "hidden_checks": 0,
    "approach": "Addition.",
}
CHECK = {"name": "one", "visibility": "visible", "points": 2, "arguments": [1], "expected": 2, "hint": "Add."}
