// Verifies a signature.
