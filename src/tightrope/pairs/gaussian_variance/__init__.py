"""The family of centred Gaussians whose deviations differ."""
