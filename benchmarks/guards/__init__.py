"""Mutation testing by hand: break each guard of the tables in this folder once, and expect a test to fail.

python -m benchmarks.guards                        # all guards without a result
python -m benchmarks.guards --again --jobs 4       # all guards again, four at once
python -m benchmarks.guards --only policy --list   # only list guards with this in their ids
"""
