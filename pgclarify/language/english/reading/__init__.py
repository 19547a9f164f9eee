"""Finds readings and answers in English passages, by rules."""
