"""Pure methods: numpy in, plain data out. No I/O, no database, no model."""
