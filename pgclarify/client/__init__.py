"""The Python client; `pgclarify` exports what applications import.

Scripts say which statements each call sends, and what it returns of the rows: operations.py, which is generated, and
documents.py, passages.py, runs.py and watching.py. The clients in blocking.py and awaiting.py execute these scripts.
"""
