"""Short solution summaries: asked for, read strictly, corrected once, landed."""
