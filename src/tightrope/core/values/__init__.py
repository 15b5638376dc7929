"""What everything is said in: bounds, questions, neighbours, errors, the allowance of work."""
