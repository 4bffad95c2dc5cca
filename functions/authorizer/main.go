// Command authorizer says who a credential stands for: the Lambda authorizer of every operation.
package main

import (
	"toggleadmin/pkg/app"
	"toggleadmin/pkg/authorizer"
)

func main() { app.Main(authorizer.NewFunction) }
