"""Cutting documents into problems with their solutions by line numbers: texts are cut, never typed again."""
