"""The parts of detect_ambiguity: what says that a question is ambiguous."""
