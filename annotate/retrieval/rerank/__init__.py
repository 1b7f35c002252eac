"""Rerankers: a language model reorders the first documents of a landed run, every call through the call log."""
