"""Run them with `python3 -m unittest`."""
