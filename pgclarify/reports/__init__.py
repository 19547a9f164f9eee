"""Reports: a run, or a comparison of methods, as one self-contained HTML page."""
