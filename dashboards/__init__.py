"""The dashboard for Apache Superset: what it shows, and a Superset that shows it for a made-up year."""
