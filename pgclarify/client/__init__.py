"""The Python client; `pgclarify` exports what applications import.

Scripts say which statements each call sends, and what it returns of the rows: operations.py, documents.py, watching.py.
The clients in blocking.py and awaiting.py execute these scripts.
"""
