"""What other theories of composition say of the same run; each states what kind of statement it makes."""
