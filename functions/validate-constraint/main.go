// Command validate-constraint serves POST /api/admin/constraints/validate.
package main

import (
	"toggleadmin/pkg/api/constraint"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(constraint.Operations(), "validate-constraint") }
