"""What becomes of runs while the endpoint, workers, sessions or the server fail: nothing lost, nothing paid for twice.

python -m tests.benchmark.faults table [--runs 200] [--only NAME]    # twenty faults, one row each
python -m tests.benchmark.faults kills [--kills 300]                 # SIGKILL, with three workers
python -m tests.benchmark.faults partition                           # a proxy that stops forwarding
python -m tests.benchmark.faults soak [--hours 2]                    # mixed load with faults on; Ctrl-C ends it early
"""
