"""What comes in: points, distances or neighbours, in one unit."""
