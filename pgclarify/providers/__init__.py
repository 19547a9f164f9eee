"""What talks to endpoints and models: a chat model behind an endpoint, or rules and embeddings where there is none."""
