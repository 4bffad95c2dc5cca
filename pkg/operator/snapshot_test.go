package operator_test

import (
	"crypto/rand"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"toggleadmin/pkg/api/environment"
	"toggleadmin/pkg/background/compiler"
	"toggleadmin/pkg/delivery/snapshottable"
	"toggleadmin/pkg/operator"
	"toggleadmin/pkg/operator/installation"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/database"
)

// The snapshot of projects has only their toggles, and its tag has the version at which they changed last.
func TestSnapshot(t *testing.T) {
	t.Parallel()
	db := database.New(t)
	db.PutProjects(t, access.NewProject("shop", "Shop"), access.NewProject("blog", "Blog"))
	_, err := environment.NewStore(db.Client, db.Tables, db.Log()).Create(t.Context(),
		environment.Environment{Name: "production", Type: "production"})
	assert.OK(t, err)
	o := newOperator(db, installation.Installation{Option: "--local"})
	show := func(projects ...string) string {
		s, err := o.Snapshot(t.Context(), "production", projects)
		if err != nil {
			return statuses(err)
		}
		text := fmt.Sprintf("%d, %s:", s.Version, s.Tag[len(s.Tag)-5:])
		for _, f := range s.Document.Features {
			text += " " + f.Name
		}
		return text
	}
	compile := func() {
		c := compiler.New(db.Client, db.Tables, time.Now, rand.Reader, slog.New(slog.DiscardHandler))
		assert.OK(t, c.Compile(t.Context(), "production"))
	}
	const none = "3 the environment \"production\" has no snapshot yet: sweep-snapshots compiles one each minute; " +
		"`toggleadmin doctor --local` checks it\n"
	assert.Equal(t, none, show())
	for _, project := range []string{"shop", "blog"} {
		_, _, _, err := o.PutToggle(t.Context(), "in-"+project, operator.ToggleChange{Project: &project})
		assert.OK(t, err)
		compile()
	}
	assert.Equal(t, `2, 2:v1": in-blog in-shop`, show())
	assert.Equal(t, `2, 2:v1": in-blog in-shop`, show("shop", "*"))
	assert.Equal(t, `2, 1:v1": in-shop`, show("shop"))
	assert.Equal(t, `2, 2:v1": in-blog in-shop`, show("shop", "blog", "none"))
	assert.Equal(t, `2, 0:v1":`, show("none"))
	assert.Equal(t, "2 \"a b\" is not a valid project: use 1 to 100 letters, digits and . _ ~ -, but not . or .. alone\n",
		show("a b"))
	assert.Equal(t, "3 there is no environment \"prod\": there are production\n",
		statuses(second(o.Snapshot(t.Context(), "prod", nil))))

	table := db.Tables[snapshottable.Table]
	for _, item := range db.Scan(t, table) {
		if !snapshottable.IsPointer(item) {
			db.Delete(t, table, dynamo.Item{"environment": item["environment"], "item": item["item"]})
		}
	}
	assert.Equal(t, "1 the snapshot 2 of the environment \"production\" cannot be read: its part 1 of 3 is missing\n", show())
}

func second[T any](_ T, err error) error { return err }
