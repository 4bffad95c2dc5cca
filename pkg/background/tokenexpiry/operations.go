package tokenexpiry

import (
	"github.com/aws/aws-lambda-go/lambda"

	"toggleadmin/pkg/api/clienttoken"
	"toggleadmin/pkg/api/pat"
	"toggleadmin/pkg/delivery/clienttokentable"
	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/platform/app"
)

// Functions returns the function that announces tokens which are about to expire.
func Functions() []app.Function {
	return []app.Function{{
		Name: "announce-expiring-tokens",
		Handler: func(d *app.Deps) lambda.Handler {
			d.OpenTables(pat.Table, clienttokentable.Table, eventlog.Table)
			log := eventlog.Open(d.DynamoDB, d.Tables, d.Now, d.Number)
			a := &Announcer{
				PATs:         pat.NewStore(d.DynamoDB, d.Tables, log, nil),
				ClientTokens: clienttoken.NewStore(d.DynamoDB, d.Tables, log),
				Now:          d.Now,
				Logger:       d.Logger,
			}
			return app.Event(a.Announce)
		},
	}}
}
