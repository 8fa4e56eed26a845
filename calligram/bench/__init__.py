"""`calligram bench`: how fast masks are, beside other engines; what constraints buy on a model."""
