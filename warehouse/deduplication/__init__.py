"""Exact and near duplicates among problems."""
