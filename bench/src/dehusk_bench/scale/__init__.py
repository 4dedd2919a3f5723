"""What more pages, sites and processes cost and gain."""
