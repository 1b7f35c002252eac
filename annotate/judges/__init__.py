"""Judges: what is asked about two candidates and how replies become a verdict."""
