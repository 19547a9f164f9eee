"""The parts of clarify: the relaxed question, one pass for clear ones, passages chosen by verdicts, interpretations."""
