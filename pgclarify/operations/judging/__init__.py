"""What passages say: verdicts on them, answers that are proven by quotes of them, questions that they answer."""
