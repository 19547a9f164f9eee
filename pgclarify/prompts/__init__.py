"""What language models are asked: one file per topic, and the form of the replies."""
