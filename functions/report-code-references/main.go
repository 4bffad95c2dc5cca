// Command report-code-references serves POST /api/admin/projects/{projectId}/code-references.
package main

import (
	"toggleadmin/pkg/api/codereference"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(codereference.Operations(), "report-code-references") }
