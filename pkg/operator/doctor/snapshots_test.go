package doctor_test

import (
	"crypto/rand"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"toggleadmin/pkg/api/featuretable"
	"toggleadmin/pkg/api/segmenttable"
	"toggleadmin/pkg/delivery/snapshottable"
	"toggleadmin/pkg/operator/doctor"
	"toggleadmin/pkg/operator/installation"
	"toggleadmin/pkg/platform/datetime"
	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/pkg/toggle"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/database"
)

// putFeature stores a toggle that is on in production, with a strategy that uses segments.
func putFeature(t *testing.T, db *database.Database, name string, segments ...int64) {
	t.Helper()
	f := toggle.Feature{Name: name, Project: "default", Type: "release"}
	f.SetEnvironment("production", toggle.Environment{Enabled: true, Strategies: []toggle.Strategy{{
		ID: "1", Name: "default", Segments: segments,
	}}})
	db.Put(t, db.Tables[featuretable.Table], featuretable.Marshal(f.Normalized()))
}

func putSegment(t *testing.T, db *database.Database, name string) {
	t.Helper()
	db.Put(t, db.Tables[segmenttable.Table],
		segmenttable.Marshal(segmenttable.Segment{Segment: toggle.Segment{ID: 7, Name: name}}))
}

// deleteSnapshots deletes the items of production that are selected.
func deleteSnapshots(t *testing.T, db *database.Database, selects func(dynamo.Item) bool) {
	t.Helper()
	for _, item := range db.Scan(t, db.Tables[snapshottable.Table]) {
		if item.String("environment") == "production" && selects(item) {
			db.Delete(t, db.Tables[snapshottable.Table],
				dynamo.Item{"environment": item["environment"], "item": item["item"]})
		}
	}
}

// The snapshots have the toggle "seen", which uses the segment 7, when the change is made.
func TestSnapshots(t *testing.T) {
	t.Parallel()
	earlier := time.Now().Add(-3 * time.Hour)
	for name, test := range map[string]struct {
		change func(*testing.T, *database.Database)
		want   string
		stays  bool // the repair leaves it
	}{
		"nothing": {
			change: func(*testing.T, *database.Database) {},
		},
		"a toggle is missing": {
			change: func(t *testing.T, db *database.Database) { t.Helper(); putFeature(t, db, "new") },
			want: `2 inconsistencies: the snapshot of the environment "development" lacks the toggle "new"; ` +
				`the snapshot of the environment "production" lacks the toggle "new"`,
		},
		"a toggle differs": {
			change: func(t *testing.T, db *database.Database) { t.Helper(); putFeature(t, db, "seen") },
			want: `2 inconsistencies: the snapshot of the environment "production" has another state of the toggle "seen"; ` +
				`the snapshot of the environment "production" has the segment 7, which is not to be delivered`,
		},
		"a toggle was deleted": {
			change: func(t *testing.T, db *database.Database) {
				t.Helper()
				db.Delete(t, db.Tables[featuretable.Table], featuretable.Key("seen"))
			},
			want: `3 inconsistencies: ` +
				`the snapshot of the environment "development" has the toggle "seen", which is not to be delivered; ` +
				`the snapshot of the environment "production" has the segment 7, which is not to be delivered; ` +
				`the snapshot of the environment "production" has the toggle "seen", which is not to be delivered`,
		},
		"a segment differs": {
			change: func(t *testing.T, db *database.Database) { t.Helper(); putSegment(t, db, "renamed") },
			want:   `1 inconsistency: the snapshot of the environment "production" has another state of the segment 7`,
		},
		"a toggle cannot be compiled": {
			change: func(t *testing.T, db *database.Database) { t.Helper(); putFeature(t, db, "seen", 8) },
			want: `1 inconsistency: applications in "production" get an earlier state, or none, of the toggle "seen": ` +
				`a strategy uses the segment 8, which does not exist`,
			stays: true,
		},
		"there is no snapshot": {
			change: func(t *testing.T, db *database.Database) {
				t.Helper()
				deleteSnapshots(t, db, snapshottable.IsPointer)
			},
			want: `1 inconsistency: the environment "production" has no snapshot`,
		},
		"the parts of a snapshot are lost": {
			change: func(t *testing.T, db *database.Database) {
				t.Helper()
				deleteSnapshots(t, db, func(i dynamo.Item) bool { return !snapshottable.IsPointer(i) })
			},
			want: `1 inconsistency: the snapshot 2 of the environment "production" cannot be read: its part 1 of 3 is missing`,
		},
		"the sweep does not run": {
			change: func(t *testing.T, db *database.Database) {
				t.Helper()
				compileSnapshots(t, db, func() time.Time { return earlier })
			},
			want: `2 inconsistencies: the snapshot of the environment "development" was last compared with the tables at ` +
				datetime.Format(earlier) + `; the snapshot of the environment "production" was last compared with the ` +
				`tables at ` + datetime.Format(earlier),
			stays: true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db, i := newInstallation(t)
			putSegment(t, db, "beta")
			putFeature(t, db, "seen", 7)
			compileSnapshots(t, db, time.Now)
			test.change(t, db)
			assert.Equal(t, test.want, snapshotProblem(t, i, doctor.Config{}, func() {}))
			want := ""
			if test.stays {
				want = test.want
			}
			assert.Equal(t, want, snapshotProblem(t, i, doctor.Config{Fix: true}, func() {}))
		})
	}
}

// The first sweep compiles the snapshots of a new installation.
func TestNoSnapshotsYet(t *testing.T) {
	t.Parallel()
	db, i := newInstallation(t)
	for _, item := range db.Scan(t, db.Tables[featuretable.Table]) {
		db.Delete(t, db.Tables[featuretable.Table], featuretable.Key(item.String("name")))
	}
	for _, item := range db.Scan(t, db.Tables[snapshottable.Table]) {
		db.Delete(t, db.Tables[snapshottable.Table],
			dynamo.Item{"environment": item["environment"], "item": item["item"]})
	}
	assert.Equal(t, "", snapshotProblem(t, i, doctor.Config{}, func() {}))
}

// A change that is compiled while doctor reads is not a problem.
func TestSnapshotsOfARecentChange(t *testing.T) {
	t.Parallel()
	db, i := newInstallation(t)
	putFeature(t, db, "new")
	var compiling sync.WaitGroup
	found := snapshotProblem(t, i, doctor.Config{Settle: time.Minute}, func() {
		compiling.Go(func() { compileSnapshots(t, db, time.Now) })
	})
	compiling.Wait()
	assert.Equal(t, "", found)
}

// snapshotProblem returns what doctor reports about snapshots, or "". It calls before when the check before has ended.
func snapshotProblem(t *testing.T, i *installation.Installation, c doctor.Config, before func()) (found string) {
	t.Helper()
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	i.BaseURL = server.URL
	c.Installation, c.HTTP, c.Now, c.Random = i, server.Client(), time.Now, rand.Reader
	c.Report = func(f doctor.Finding) {
		switch {
		case f.Check == "tokens":
			before()
		case f.Check == "snapshots" && f.Status == doctor.Problem:
			found = f.Detail
		}
	}
	doctor.Examine(t.Context(), c)
	return found
}
