"""The dialects that come with calligram, one YAML file each."""
