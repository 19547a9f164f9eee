"""Words, names, numbers, quotes and questions of English text: text in, plain data out."""
