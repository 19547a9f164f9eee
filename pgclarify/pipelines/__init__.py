"""One file per job: what a worker does with a run or with pending documents.

Pipelines know the world through `pgclarify.protocols` alone, so that a test can hand them the fakes of
`pgclarify.testing`.
"""
