"""A large corpus of made-up text on one embedded server, from loading to restoring a backup.

Documents go through the real ingest, with a worker whose embedding model is made up. Each stage writes its figures into
the folder of the database. A stage that was measured at this size is not measured again, so that an interrupted run
continues. A later run with more passages adds to the same corpus.

python -m benchmarks.scale.one_server --passages 1000000 --database DIR [--stages add index search …]
"""
