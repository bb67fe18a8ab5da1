"""Infrastructure: threads, compilation, devices, memory, progress, files."""
