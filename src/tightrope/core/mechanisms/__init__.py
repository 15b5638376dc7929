"""What users write: mechanisms, the transformations of mechanisms, and their composition."""
