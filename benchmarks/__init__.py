"""How fast, how large, how good: asv classes (``bench_*.py``) and a comparison with other libraries (``peers.py``)."""
