"""`python -m pgclarify.cli`: the command line without its script, as a detached worker is started."""

from pgclarify.cli.main import main

main()
