"""Checks of an installation, with findings and remedies in plain words: one module for each kind of check."""
