"""What a hostile document can do to a call that judges several passages, from replies that were recorded.

`attacks.jsonl` has forty attacks, ten of each kind, each on one of the eight passages of a question of `large_model`.
`plan` writes the prompts, `benchmarks.quality.large_model.recorder` shows one at a time and takes the reply, and
`python -m benchmarks.quality.attacked_calls` makes the figures again, without a model.
"""
