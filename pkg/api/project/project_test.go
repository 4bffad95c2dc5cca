package project_test

import (
	"testing"

	"toggleadmin/pkg/api/feature"
	"toggleadmin/pkg/api/project"
	"toggleadmin/pkg/platform/lambdahttp"
	"toggleadmin/pkg/toggle"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/database"
	"toggleadmin/test/helper/operation"
)

func TestList(t *testing.T) {
	t.Parallel()
	db := database.New(t)
	features := feature.NewStore(db.Client, db.Tables, db.Log())
	h := operation.Set{Handlers: map[string]lambdahttp.HandlerFunc{
		"list": project.List(project.NewStore(db.Client, db.Tables)),
	}}
	defaultProject := `{"id":"default","name":"Default","description":"Default project","mode":"open","featureCount":0,"createdAt":null}`
	h.Expect(t.Context(), t, "list", "", "", `200 {"version":1,"projects":[`+defaultProject+`]}`)
	for _, f := range []toggle.Feature{
		{Name: "a", Project: "shop"}, {Name: "b", Project: "shop"}, {Name: "c", Project: "old", Archived: true},
	} {
		_, err := features.Create(t.Context(), f)
		assert.OK(t, err)
	}
	h.Expect(t.Context(), t, "list", "", "", `200 {"version":1,"projects":[`+defaultProject+`,`+
		`{"id":"old","name":"old","mode":"open","featureCount":0,"createdAt":null},`+
		`{"id":"shop","name":"shop","mode":"open","featureCount":2,"createdAt":null}]}`)
}
