// Command authorizer is the Lambda authorizer of every operation. It identifies the caller by the Authorization header.
package main

import (
	"toggleadmin/pkg/app"
	"toggleadmin/pkg/authorizer"
)

func main() { app.Main(authorizer.NewFunction) }
