"""The parts of investigate: evidence of a step, its answer, its confidence, and the conclusion."""
