"""Executes runs. Each operation is a module of its name; packages have the parts that operations share.

Operations depend only on `pgclarify.protocols`, so that a test can pass them a store in memory and a scripted
completer. `pgclarify.prompts` renders the calls of language models.
"""
