"""The moves of a ledger: each a function of one transaction's view, which writes and says what it wrote."""
