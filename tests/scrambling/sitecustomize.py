"""Python runs this when it starts, where this folder is on its path: a process that tests start scrambles, too."""

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

specification = spec_from_file_location("scrambled", Path(__file__).parents[1] / "scrambled.py")
assert specification is not None and specification.loader is not None
scrambled = module_from_spec(specification)
specification.loader.exec_module(scrambled)
if scrambled.is_on():
    scrambled.scramble()
