// Command create-tag-type serves POST /api/admin/tag-types.
package main

import (
	"toggleadmin/pkg/api/tagtype"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(tagtype.Operations(), "create-tag-type") }
