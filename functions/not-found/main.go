// Command not-found answers every path and method that the API does not have.
package main

import (
	"toggleadmin/pkg/app"
	"toggleadmin/pkg/notfound"
)

func main() { app.Main(notfound.NewFunction) }
