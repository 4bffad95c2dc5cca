// Command delete-own-token serves DELETE /api/admin/user/tokens/{id}.
package main

import (
	"toggleadmin/pkg/app"
	"toggleadmin/pkg/pat"
)

func main() { app.Main(pat.NewDeleteOwnFunction) }
