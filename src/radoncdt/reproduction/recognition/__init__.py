"""Studies of recognition from one or a few examples: characters of fonts, and Omniglot."""
