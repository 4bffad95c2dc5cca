package main

// Main is main.
var Main = main
