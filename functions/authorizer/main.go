// Command authorizer is the Lambda authorizer of every operation. It identifies the caller by the Authorization header.
package main

import (
	"toggleadmin/pkg/api/authorizer"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(authorizer.Functions(), "authorizer") }
