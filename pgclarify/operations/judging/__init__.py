"""Judges passages: verdicts, answers proven by quotes, and questions that passages answer."""
