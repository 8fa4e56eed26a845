"""`calligram bench`: how fast masks are, beside other engines where they are installed."""
