"""Trains the judge of sentences; README.md has the sources and the commands."""
