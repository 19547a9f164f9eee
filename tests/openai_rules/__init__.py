"""How the scripted model server answers each kind of prompt."""
