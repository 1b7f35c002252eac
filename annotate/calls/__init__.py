"""The call log: every attempt of every call to a model lands here before anything is parsed."""
