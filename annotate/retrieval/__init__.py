"""Retrieval systems and their runs: a small file each under ``systems``, one registry, one way to land runs."""
