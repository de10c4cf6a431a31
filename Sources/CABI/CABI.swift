// CABI
