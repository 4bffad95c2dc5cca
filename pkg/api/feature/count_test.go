package feature_test

import (
	"testing"

	"toggleadmin/test/operation"
	"toggleadmin/test/table"
)

// Every toggle is counted once in the total, once in its type and once in its project.
func TestCount(t *testing.T) {
	t.Parallel()
	db := newTables(t)
	h := handlers(db.store)
	h.Want(t.Context(), t, operation.Request{Operation: "count"},
		`200 {"total":{"active":0,"stale":0,"potentiallyStale":0,"archived":0},"types":[],`+
			`"projects":[{"project":"default","active":0,"stale":0,"potentiallyStale":0,"archived":0}]}`)
	db.create(t, `{"name":"due"}`, `{"name":"stale","stale":true}`, `{"name":"gone","archived":true,"stale":true}`,
		`{"name":"due-in-shop","project":"shop"}`, `{"name":"active","project":"shop","type":"endless"}`)
	for _, row := range table.Rows(t, 2, `
		# query | response
		project=IS_NOT:x | 200 {"total":{"active":1,"stale":1,"potentiallyStale":2,"archived":1},"types":[{"type":"endless","active":1,"stale":0,"potentiallyStale":0,"archived":0},{"type":"release","active":0,"stale":1,"potentiallyStale":2,"archived":1}],"projects":[{"project":"default","active":0,"stale":1,"potentiallyStale":1,"archived":1},{"project":"shop","active":1,"stale":0,"potentiallyStale":1,"archived":0}]}
		project=IS:shop | 200 {"total":{"active":1,"stale":0,"potentiallyStale":1,"archived":0},"types":[{"type":"endless","active":1,"stale":0,"potentiallyStale":0,"archived":0},{"type":"release","active":0,"stale":0,"potentiallyStale":1,"archived":0}],"projects":[{"project":"shop","active":1,"stale":0,"potentiallyStale":1,"archived":0}]}
		project=shop | 400 ValidationError: …
	`) {
		h.Want(t.Context(), t, operation.Request{Operation: "count", Query: row[0]}, row[1])
	}
}
