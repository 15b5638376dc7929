"""Laws that hold for every mechanism."""
