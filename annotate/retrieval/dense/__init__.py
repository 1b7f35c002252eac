"""Dense retrieval: texts as vectors, in pieces where they are longer than a model can read, cached for ever."""
