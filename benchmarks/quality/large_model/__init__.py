"""What a large language model reads, one passage a call or in one prompt, from replies that were recorded.

`collect` writes the questions with their passages, `recorder` shows one prompt at a time and takes the reply, and
`python -m benchmarks.quality.large_model` makes the figures again from what they wrote, without a model.
"""
