"""The parts of clarify: relaxation, the single pass for clear questions, guided exploration, interpretations."""
