// Signalling
