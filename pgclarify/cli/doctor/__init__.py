"""What is missing or wrong in an installation, in plain words: one module for each reason that a check changes."""
