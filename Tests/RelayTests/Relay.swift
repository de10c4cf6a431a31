// Relay
