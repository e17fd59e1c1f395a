"""Studies of recognition: from a few examples, among thousands of characters, and Omniglot's one-shot task."""
