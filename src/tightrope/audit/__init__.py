"""What an attack saw -> what it refutes: tests fixed before the data, each with its theorem."""
