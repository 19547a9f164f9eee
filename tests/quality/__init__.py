"""Floors of quality: each method on a small set of our own making, so that one that gets worse fails.

A floor is some way below what the method reaches today, which the comment beside it says. If a change makes a method
better, raise the floor. If it makes one worse, the change is to blame, not the floor.
"""
