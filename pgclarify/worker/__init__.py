"""The worker: a process that carries out runs and makes documents searchable."""
