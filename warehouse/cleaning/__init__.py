"""Cleaning of problem texts as versioned, idempotent, counted steps."""
