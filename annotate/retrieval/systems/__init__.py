"""One small file a system; every module here lists what it brings in ``SYSTEMS`` and is found by itself."""
