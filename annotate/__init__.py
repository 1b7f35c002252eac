"""The jobs that ask models or people: annotation, judging, ratings and retrieval runs."""
