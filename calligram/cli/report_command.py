"""`calligram report`: what the grammar enforces, keyword by keyword."""
