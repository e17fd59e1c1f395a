"""Benchmarks of the accuracy, speed and memory of radoncdt, alone and in comparison with other libraries.

``python -m benchmarks`` lists them, and ``python -m benchmarks NAME [PART …]`` runs one.
"""
