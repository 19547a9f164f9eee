"""Settings of the Superset of `make dashboards`. Secrets are made anew at each start."""

import os

from superset.config import TALISMAN_CONFIG  # type: ignore[import-not-found]

SECRET_KEY = os.environ["PGCLARIFY_SUPERSET_KEY"]
SQLALCHEMY_DATABASE_URI = f"sqlite:///{os.environ['SUPERSET_HOME']}/superset.db"
# Superset's pages load a picture that counts visits. The demo asks nothing of other servers.
TALISMAN_CONFIG["content_security_policy"]["img-src"] = ["'self'", "blob:", "data:"]
