package references_test

import (
	"fmt"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/api/references"
	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/database"
)

// write carries out a transaction and reports whether it succeeded.
func write(t *testing.T, db *database.Database, actions ...types.TransactWriteItem) bool {
	t.Helper()
	failures, err := dynamo.Transact(t.Context(), db.Client, actions)
	assert.OK(t, err)
	return failures == nil
}

func TestReferences(t *testing.T) {
	t.Parallel()
	db := database.New(t)
	table := references.NewStore(db.Client, db.Tables["ContextFields"], "name")
	counts := func(p, q int64) references.Counts {
		return references.Counts{ByProject: references.ByProject{"p": p, "q": q}}
	}
	read := func() string {
		all, err := table.Read(t.Context(), []string{"plan", "none"})
		assert.OK(t, err)
		return fmt.Sprint(all)
	}

	assert.Equal(t, false, write(t, db, table.Change("plan", references.Counts{Segments: 1}, references.Counts{})))
	assert.Equal(t, false, write(t, db, table.Exists("plan")))
	assert.Equal(t, "map[]", read())

	assert.Equal(t, true, write(t, db, table.Create("plan")))
	assert.Equal(t, true, write(t, db, table.Exists("plan")))
	assert.Equal(t, true, write(t, db, table.Change("plan", counts(2, 1), references.Counts{})))
	assert.Equal(t, true, write(t, db, table.Change("plan", references.Counts{Archived: 2, Segments: 1, Version: 1}, references.Counts{})))
	assert.Equal(t, "map[plan:{map[p:2 q:1] 2 1 0 0 1}]", read())

	assert.Equal(t, false, write(t, db, table.SameVersion("plan", references.Counts{})))
	assert.Equal(t, true, write(t, db, table.SameVersion("plan", references.Counts{Version: 1})))

	assert.Equal(t, false, write(t, db, table.UnusedIn("plan", "q")))
	assert.Equal(t, true, write(t, db, table.UnusedIn("plan", "other")))
	assert.Equal(t, false, write(t, db, table.UnusedIn("none", "other")))

	// A project without toggles is left out. The change of references that have changed fails.
	less := references.Counts{ByProject: references.ByProject{"q": -1}, Archived: -2}
	assert.Equal(t, false, write(t, db, table.Change("plan", less, references.Counts{})))
	assert.Equal(t, false, write(t, db, table.Delete("plan", counts(2, 1))))
	assert.Equal(t, true, write(t, db, table.Change("plan", less, counts(2, 1))))
	assert.Equal(t, "map[plan:{map[p:2] 0 1 0 0 1}]", read())

	unused := references.Counts{ByProject: references.ByProject{}, Version: 1}
	assert.Equal(t, false, write(t, db, table.Delete("plan", unused)))
	last := references.Counts{ByProject: references.ByProject{"p": -2}, Segments: -1}
	assert.Equal(t, true, write(t, db, table.Change("plan", last, counts(2, 0))))
	assert.Equal(t, false, write(t, db, table.Delete("plan", references.Counts{ByProject: references.ByProject{}})))
	assert.Equal(t, true, write(t, db, table.Delete("plan", unused)))
	assert.Equal(t, "map[]", read())
}

func TestCounts(t *testing.T) {
	t.Parallel()
	counts := references.ByProject{"p": 2, "q": 1, "none": 0}
	assert.Equal(t, []int64{3, 2}, []int64{counts.Toggles(), counts.Projects()})
}
