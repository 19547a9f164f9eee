"""Language models: the endpoint, the prompts, and the verifiers on top of them."""
