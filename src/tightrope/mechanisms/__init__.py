"""One file per mechanism: its parameters, its dominating pair, its citation."""
