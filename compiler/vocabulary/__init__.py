"""Vocabularies: tokens as bytes, and what is prepared from them once."""
