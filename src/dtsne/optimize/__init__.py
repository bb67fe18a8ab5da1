"""From a first map to the last."""
