"""The sample that ships with the package: our own problems, solutions, technique labels and ontology."""
