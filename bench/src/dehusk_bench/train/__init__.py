"""Training: pages in, a model out. It knows the stages, as the pipeline does."""
