"""CREATE EXTENSION pgclarify: its files, made from what init applies, and the part of init that remains where it is."""
