"""The parts of detect_ambiguity."""
