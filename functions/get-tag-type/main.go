// Command get-tag-type serves GET /api/admin/tag-types/{name}.
package main

import (
	"toggleadmin/pkg/api/tagtype"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(tagtype.Operations(), "get-tag-type") }
