"""What people can call, declared once: `generate` writes SQL, the Python client and pages from it."""
