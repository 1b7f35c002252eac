"""The job commands of ``saber``, one module each, registered through entry points."""
