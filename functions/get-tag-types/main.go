// Command get-tag-types serves GET /api/admin/tag-types.
package main

import (
	"toggleadmin/pkg/api/tagtype"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(tagtype.Operations(), "get-tag-types") }
