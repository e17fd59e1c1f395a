"""Benchmarks of radoncdt: how exact, how fast and how frugal it is, alone and beside other libraries.

``python -m benchmarks`` lists them, and ``python -m benchmarks NAME [PART …]`` runs one.
"""
