"""Regular languages of values: the texts of strings and the spelled digits of numbers."""
