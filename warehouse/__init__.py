"""What the tables are and where they live: schemas, landing, readers, settings, the ``saber`` command."""
