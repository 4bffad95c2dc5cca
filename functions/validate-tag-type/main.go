// Command validate-tag-type serves POST /api/admin/tag-types/validate.
package main

import (
	"toggleadmin/pkg/api/tagtype"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(tagtype.Operations(), "validate-tag-type") }
