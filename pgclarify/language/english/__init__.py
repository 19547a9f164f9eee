"""English: its word classes, and all rules that know them."""
