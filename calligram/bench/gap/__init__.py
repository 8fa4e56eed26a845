"""`calligram bench gap`: what the constraint buys on a real model, prompt by prompt."""
