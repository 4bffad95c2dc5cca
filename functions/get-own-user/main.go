// Command get-own-user serves GET /api/admin/user.
package main

import (
	"toggleadmin/pkg/app"
	"toggleadmin/pkg/user"
)

func main() { app.Main(user.NewGetOwnFunction) }
