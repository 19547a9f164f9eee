"""The page where people ask, see the proof in its document, and say what is right: `pgclarify ui`."""
