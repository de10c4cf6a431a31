// Pairing
