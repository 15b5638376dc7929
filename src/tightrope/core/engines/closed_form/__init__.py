"""core.engines.closed_form."""
