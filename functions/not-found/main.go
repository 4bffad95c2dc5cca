// Command not-found returns 404 for every path and method that the API does not support.
package main

import (
	"toggleadmin/pkg/app"
	"toggleadmin/pkg/notfound"
)

func main() { app.Main(notfound.NewFunction) }
