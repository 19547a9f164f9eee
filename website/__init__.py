"""Tools for the documentation site: drawings of diagrams, the SQL reference, the theme. Not part of the package."""
