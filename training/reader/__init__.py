"""Trains the reader: a network that finds the words of a passage that answer a question."""
