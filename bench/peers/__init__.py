"""Other ways to do the same work, one module each, at the sizes they can bear."""
