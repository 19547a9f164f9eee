"""What a number of passages and questions needs, and one simulated peak hour: `python -m benchmarks.scale.capacity`.

`costs` has the measured figures, `plan` the formulas, `simulation` the hour, `tables` the computed tables of the pages.
"""
