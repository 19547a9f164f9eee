"""Scripts that make the trained files of the package. They are not part of the package."""
