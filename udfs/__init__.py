"""Pure vectorised functions over Arrow and NumPy arrays; imports nothing else of this project."""
