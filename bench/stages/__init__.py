"""The product's stages, one module each."""
