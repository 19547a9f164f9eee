"""Runs while the endpoint, workers, sessions or the server fail: nothing may be lost or paid for twice.

python -m benchmarks.faults table [--runs 200] [--only NAME]    # twenty faults, one row each
python -m benchmarks.faults kills [--kills 300]                 # SIGKILL, with three workers
python -m benchmarks.faults machines                            # several machines: delays, losses, a cut network, ...
python -m benchmarks.faults soak [--hours 2]                    # mixed load with faults on; Ctrl-C ends it early
"""
