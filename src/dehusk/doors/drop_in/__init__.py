"""The calls of other extractors, answered by dehusk: one import line moves a project over."""
