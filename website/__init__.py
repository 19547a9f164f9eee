"""What makes the site of the pages: drawings of diagrams, the reference of SQL, the theme. No part of the package."""
