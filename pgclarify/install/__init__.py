"""Install, upgrade and remove the schema: extensions, roles, migrations, functions, policies and views."""
