"""Stress tests of catalogues: concurrent processes, damaged files, killed commands, shared objects.

``make stress`` runs all parts; ``tests/test_stress.py`` runs a short, deterministic version of each.
"""
