"""`python -m pgclarify.cli`: the command line without its script; detached workers are started in this way."""

from pgclarify.cli.main import main

main()
