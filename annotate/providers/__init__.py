"""Where model replies come from: a server, an in-process engine, or the offline provider."""
