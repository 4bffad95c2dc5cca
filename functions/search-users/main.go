// Command search-users serves GET /api/admin/user-admin/search.
package main

import (
	"toggleadmin/pkg/api/person"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(person.Operations(), "search-users") }
