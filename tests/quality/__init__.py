"""Floors of quality: each method on a small set that we made, so that a method that gets worse fails its test.

A floor is a little below the method's value today. The comment next to the floor has that value. If a change improves a
method, raise the floor. If a change makes a method worse, fix the change and do not lower the floor.
"""
