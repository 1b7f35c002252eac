"""Benchmarks: every long stage at growing sizes, and other ways to do the same work beside it."""
