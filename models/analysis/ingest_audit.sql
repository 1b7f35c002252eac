select source, file, row_number, step, reason, n_rows
from {{ latest(source("landing", "source_rows"), ["source", "file", "row_number", "step", "reason"]) }}
