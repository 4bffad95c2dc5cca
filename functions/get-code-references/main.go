// Command get-code-references serves GET /api/admin/code-references.
package main

import (
	"toggleadmin/pkg/api/codereference"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(codereference.Operations(), "get-code-references") }
