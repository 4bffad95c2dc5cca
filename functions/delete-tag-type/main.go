// Command delete-tag-type serves DELETE /api/admin/tag-types/{name}.
package main

import (
	"toggleadmin/pkg/api/tagtype"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(tagtype.Operations(), "delete-tag-type") }
