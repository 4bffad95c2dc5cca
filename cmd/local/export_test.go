package main

// Main is main, for tests that run the test binary as the program.
func Main() { main() }
