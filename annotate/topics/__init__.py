"""Topic assignment: a top-down traversal of an ontology, one scored call a visited node."""
