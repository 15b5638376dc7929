"""The contour engine: one integral of the cgf through its saddle point, every error term bounded."""
