"""Installs, upgrades and removes the schema: extensions, roles, migrations, functions, policies and views."""
