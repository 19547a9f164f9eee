"""Which passages a run looks at: the first ranking, reranking, and passages near those that were found."""
