"""The tools, one file for each library; table.py lists them with what they claim and how they were set."""
