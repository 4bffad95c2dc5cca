package usagemerger

import (
	"github.com/aws/aws-lambda-go/lambda"

	"toggleadmin/pkg/api/featuretable"
	"toggleadmin/pkg/api/traffic"
	"toggleadmin/pkg/delivery/usagetable"
	"toggleadmin/pkg/platform/app"
)

// Functions returns the function that merges usage.
func Functions() []app.Function {
	return []app.Function{{
		Name: "sweep-usage",
		Handler: func(d *app.Deps) lambda.Handler {
			d.OpenTables(usagetable.Table, traffic.Table, featuretable.Table)
			return app.Event(New(d.DynamoDB, d.Tables, d.Now, d.Logger).Sweep)
		},
	}}
}
