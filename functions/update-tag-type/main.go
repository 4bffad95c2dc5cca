// Command update-tag-type serves PUT /api/admin/tag-types/{name}.
package main

import (
	"toggleadmin/pkg/api/tagtype"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(tagtype.Operations(), "update-tag-type") }
