"""Runs over data sets: how good a method is, on whose questions, and at what price."""
