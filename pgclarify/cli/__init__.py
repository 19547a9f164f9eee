"""The command line. It creates and connects all other parts."""
