"""The parts of investigate: evidence for a step, its answer, how sure that is, and the conclusion."""
