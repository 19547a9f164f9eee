"""The command line, where everything is wired."""
