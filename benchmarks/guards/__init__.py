"""Mutation testing by hand: each guard of the tables beside this file is broken once, and a test has to fail.

python -m benchmarks.guards                        # all guards whose results are not there yet
python -m benchmarks.guards --again --jobs 4       # all anew, four at once
python -m benchmarks.guards --only policy --list   # guards whose ids contain this; only show them
"""
