"""A page on its way to a tree: what came, what is read of it, and where it stands."""
