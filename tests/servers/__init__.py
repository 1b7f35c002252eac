"""Servers for tests, on the loopback interface only."""
