"""The parts of investigate: evidence of a step, its answer, and its confidence."""
