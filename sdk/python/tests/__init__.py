"""Run them with `python3 -m unittest` in the folder above."""
