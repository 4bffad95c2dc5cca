// Command not-found returns 404 for every path and method that the API does not support.
package main

import "toggleadmin/pkg/platform/app"

func main() { app.Main(app.Functions(), "not-found") }
