"""Tests of the benchmarks that make the tables of the papers."""
