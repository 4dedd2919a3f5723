"""Other extractors, and all contenders in one shape."""
