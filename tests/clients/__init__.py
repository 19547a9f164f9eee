"""Clients that people use, each against a real server and a real worker."""
