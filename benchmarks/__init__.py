"""Time, width and memory, beside others and beside what was; pages and figures made from the tree."""
