"""Published studies, drawn again from certified bounds."""
