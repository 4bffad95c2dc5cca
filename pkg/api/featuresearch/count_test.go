package featuresearch_test

import (
	"testing"

	"toggleadmin/test/helper/operation"
	"toggleadmin/test/helper/toggles"
)

// Every toggle is counted once in the total, once in its type and once in its project.
func TestCount(t *testing.T) {
	t.Parallel()
	db := toggles.NewFixture(t)
	h := db.Searches(db.Client)
	h.ExpectQuery(t.Context(), t, "count", "",
		`200 {"total":{"active":0,"stale":0,"potentiallyStale":0,"archived":0,"stages":{"archived":0,"complete":0,"new":0,"overdue":0,"rolling-out":0,"to-remove":0}},"types":[],`+
			`"projects":[{"project":"default","active":0,"stale":0,"potentiallyStale":0,"archived":0,"stages":{"archived":0,"complete":0,"new":0,"overdue":0,"rolling-out":0,"to-remove":0}}]}`)
	db.Create(t, `{"name":"due"}`, `{"name":"stale","stale":true}`, `{"name":"gone","archived":true,"stale":true}`,
		`{"name":"due-in-shop","project":"shop"}`, `{"name":"active","project":"shop","type":"endless"}`)
	h.ExpectQuery(t.Context(), t, "count", "project=IS_NOT:x",
		`200 {"total":{"active":1,"stale":1,"potentiallyStale":2,"archived":1,"stages":{"archived":1,"complete":0,"new":1,"overdue":2,"rolling-out":0,"to-remove":1}},"types":[`+
			`{"type":"endless","active":1,"stale":0,"potentiallyStale":0,"archived":0,"stages":{"archived":0,"complete":0,"new":1,"overdue":0,"rolling-out":0,"to-remove":0}},`+
			`{"type":"release","active":0,"stale":1,"potentiallyStale":2,"archived":1,"stages":{"archived":1,"complete":0,"new":0,"overdue":2,"rolling-out":0,"to-remove":1}}],"projects":[`+
			`{"project":"default","active":0,"stale":1,"potentiallyStale":1,"archived":1,"stages":{"archived":1,"complete":0,"new":0,"overdue":1,"rolling-out":0,"to-remove":1}},`+
			`{"project":"shop","active":1,"stale":0,"potentiallyStale":1,"archived":0,"stages":{"archived":0,"complete":0,"new":1,"overdue":1,"rolling-out":0,"to-remove":0}}]}`)
	h.ExpectQuery(t.Context(), t, "count", "project=IS:shop",
		`200 {"total":{"active":1,"stale":0,"potentiallyStale":1,"archived":0,"stages":{"archived":0,"complete":0,"new":1,"overdue":1,"rolling-out":0,"to-remove":0}},"types":[`+
			`{"type":"endless","active":1,"stale":0,"potentiallyStale":0,"archived":0,"stages":{"archived":0,"complete":0,"new":1,"overdue":0,"rolling-out":0,"to-remove":0}},`+
			`{"type":"release","active":0,"stale":0,"potentiallyStale":1,"archived":0,"stages":{"archived":0,"complete":0,"new":0,"overdue":1,"rolling-out":0,"to-remove":0}}],"projects":[`+
			`{"project":"shop","active":1,"stale":0,"potentiallyStale":1,"archived":0,"stages":{"archived":0,"complete":0,"new":1,"overdue":1,"rolling-out":0,"to-remove":0}}]}`)
	h.ExpectQuery(t.Context(), t, "count", "project=shop",
		"400 ValidationError: The `/query/project` parameter must begin with IS: or IS_NOT: or IS_ANY_OF: or IS_NONE_OF: "+
			"and have a value; you sent \"shop\".")
}

// Toggles of a private project are neither found nor counted by others.
func TestPrivateProject(t *testing.T) {
	t.Parallel()
	db := toggles.NewFixture(t)
	db.PutPrivateProject(t)
	db.Create(t, `{"name":"hidden","project":"secret"}`, `{"name":"gone","project":"secret","archived":true}`)
	h := db.Searches(db.Client)
	h.Projects = db.ProjectReader()
	viewer := operation.Viewer(t.Context())
	for _, query := range []string{
		"", "query=hidden", "project=IS:secret", "archived=IS:true", "state=IS:potentially-stale",
		"state=IS:potentially-stale&query=hidden",
	} {
		h.ExpectQuery(viewer, t, "search", query, `200 {"features":[],"total":0}`)
	}
	h.ExpectQuery(viewer, t, "count", "", `200 {"total":{"active":0,"stale":0,"potentiallyStale":0,"archived":0,"stages":{"archived":0,"complete":0,"new":0,"overdue":0,"rolling-out":0,"to-remove":0}},`+
		`"types":[],"projects":[{"project":"default","active":0,"stale":0,"potentiallyStale":0,"archived":0,"stages":{"archived":0,"complete":0,"new":0,"overdue":0,"rolling-out":0,"to-remove":0}}]}`)
	h.ExpectQuery(viewer, t, "count", "project=IS:secret",
		`200 {"total":{"active":0,"stale":0,"potentiallyStale":0,"archived":0,"stages":{"archived":0,"complete":0,"new":0,"overdue":0,"rolling-out":0,"to-remove":0}},"types":[],"projects":[]}`)
}
