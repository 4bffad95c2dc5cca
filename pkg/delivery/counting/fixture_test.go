package counting_test

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"toggleadmin/pkg/delivery/clienttokentable"
	"toggleadmin/pkg/delivery/counting"
	"toggleadmin/pkg/delivery/usage"
	"toggleadmin/pkg/delivery/usagetable"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/database"
)

// fixture is the tables, and the toggles of the environment production.
type fixture struct {
	*testing.T
	db      *database.Database
	now     time.Time
	toggles map[string]counting.Toggle
	logged  bytes.Buffer
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	return &fixture{
		T: t, db: database.New(t), now: time.Date(2026, 11, 22, 10, 0, 0, 0, time.UTC),
		toggles: map[string]counting.Toggle{"banner": {Project: "web", Variants: []string{"red", "blue"}}},
	}
}

func (f *fixture) process() *counting.Recorder { return f.through(f.db.Client) }

func (f *fixture) through(client *dynamodb.Client) *counting.Recorder {
	return counting.New(counting.Config{
		DynamoDB: client, Tables: f.db.Tables, Now: func() time.Time { return f.now }, Random: rand.Reader,
		Logger: slog.New(slog.NewTextHandler(&f.logged, nil)), Function: "client",
	})
}

// backend returns a reporter with a backend token.
func (f *fixture) backend() counting.Reporter { return f.reporter(clienttokentable.Backend, 0) }

// page returns a reporter with one of several frontend tokens.
func (f *fixture) page(token byte) counting.Reporter {
	return f.reporter(clienttokentable.Frontend, token)
}

func (f *fixture) reporter(kind clienttokentable.Type, token byte) counting.Reporter {
	return counting.Reporter{
		Token: clienttokentable.Token{
			Selector: access.Selector{token}, Type: kind, Environment: "production",
		},
		Toggles: func() (map[string]counting.Toggle, error) { return f.toggles, nil },
	}
}

// report counts a report. The parts are JSON objects of toggles.
func (f *fixture) report(r *counting.Recorder, from counting.Reporter, application, toggles string) {
	f.Helper()
	f.reportAt(r, from, f.now, application, toggles)
}

func (f *fixture) reportAt(r *counting.Recorder, from counting.Reporter, stop time.Time, application, toggles string) {
	f.Helper()
	body := fmt.Sprintf(`{"appName":%q,"bucket":{"stop":%q,"toggles":{%s}}}`, application, stop.Format(time.RFC3339), toggles)
	assert.OK(f, r.CountReport(from, []byte(body), "sdk:1"))
}

// write lets the process write what is due.
func (f *fixture) write(r *counting.Recorder) {
	r.StartWriting(f.Context()).Wait()
	r.Log(f.Context(), f.now)
}

// parts returns the tallies of a kind that processes have written for an hour.
func (f *fixture) parts(kind usagetable.Kind, hour time.Time) []usage.Tally {
	f.Helper()
	var all []usage.Tally
	err := usagetable.WalkTallies(f.Context(), f.db.Client, f.db.Tables[usagetable.Table], usage.HourOf(hour),
		func(part usagetable.Part, tally usage.Tally) {
			if part.Kind == kind {
				all = append(all, tally)
			}
		})
	assert.OK(f, err)
	return all
}

// counted returns how often the toggle banner was on for each application, as processes have written it.
func (f *fixture) counted(kind usagetable.Kind, hour time.Time) map[string]int64 {
	f.Helper()
	yes := map[string]int64{}
	for _, tally := range f.parts(kind, hour) {
		for application, counts := range tally.Features["banner"] {
			yes[application] += counts.Yes
		}
	}
	return yes
}

// unknown returns the names without a toggle.
func (f *fixture) unknown(kind usagetable.Kind) map[string]bool {
	f.Helper()
	names := map[string]bool{}
	for _, tally := range f.parts(kind, f.now) {
		for name := range tally.Unknown {
			names[name] = true
		}
	}
	return names
}

// presence returns the applications that processes have written.
func (f *fixture) presence() usage.Presence {
	f.Helper()
	sum := usage.Presence{}
	err := usagetable.WalkPresences(f.Context(), f.db.Client, f.db.Tables[usagetable.Table], usage.HourOf(f.now),
		func(_ usagetable.Part, presence usage.Presence) { sum.Merge(presence) })
	assert.OK(f, err)
	return sum
}

// invented returns names of the maximum size that differ.
func invented(prefix string, n int) []string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprintf("%s-%04d-%s", prefix, i, strings.Repeat("名", 190))
	}
	return all
}
