"""Reports: what a run found and did, and how good methods are, as one HTML page that needs nothing beside it."""
