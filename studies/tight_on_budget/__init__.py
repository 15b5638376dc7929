"""Every figure and claim of "Tight on Budget?" (Meiser, Mohammadi 2018), one module per figure."""
