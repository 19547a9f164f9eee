"""One file per job: what a worker does with a run or with pending documents.

Pipelines know the world through `pgclarify.protocols` alone, so that a test can give them a store in memory and a
completer with a script. What they ask a language model, `pgclarify.prompts` renders.
"""
