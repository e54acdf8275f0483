# Verifies a signature.
