"""The method on a GPU, by PyTorch; imported only when a device other than the CPU is asked for.

Kernels in Triton lie in files of their own, ``_*_triton.py``; each has a twin in plain PyTorch that
computes the same on any device.
"""
