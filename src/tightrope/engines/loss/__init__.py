"""The privacy loss itself: its tails and quantiles, read off the profiles that engines bound."""
