"""Scripts that make what ships as a trained file. No part of the package."""
