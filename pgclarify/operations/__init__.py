"""What a worker does with a run: each operation is a module of its name, and packages hold what operations are made of.

Operations know the world through `pgclarify.protocols` alone, so that a test can give them a store in memory and a
completer with a script. What they ask a language model, `pgclarify.prompts` renders.
"""
