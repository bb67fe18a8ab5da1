"""Labels of any kind as groups."""
