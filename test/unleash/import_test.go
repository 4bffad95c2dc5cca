package unleash_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"toggleadmin/pkg/api/eventlog"
	"toggleadmin/pkg/local"
	"toggleadmin/pkg/operator"
	"toggleadmin/pkg/operator/installation"
	"toggleadmin/pkg/operator/seed"
	"toggleadmin/pkg/operator/transfer"
	"toggleadmin/test/database"
	"toggleadmin/test/localtest"
	"toggleadmin/test/process"
)

const (
	toggles = 2000
	fields  = 200
)

// imported is what the test expects of the toggles.
type imported map[string]transfer.Toggle

// TestImport imports 2,000 toggles of an Unleash: it kills the import, repeats it, and repeats it again, which changes
// nothing. It changes some toggles in Unleash and imports only those. Then it transfers all to an empty installation.
func TestImport(t *testing.T) {
	s := startUnleash(t)
	began := time.Now()
	want := s.fill(t)
	t.Logf("created %d toggles in Unleash in %s", len(want), time.Since(began).Round(time.Second))

	data := filepath.Join(t.TempDir(), "data")
	_, stop := localtest.StartStop(t, local.Config{DataDir: data})
	defer stop()
	admin := newToggleadmin(t, s, data)
	i, err := installation.OpenLocal(t.Context(), data)
	must(t, err)
	here := operator.New(i, time.Now, rand.Reader)
	demonstration, err := here.Toggles(t.Context())
	must(t, err)
	for _, d := range demonstration {
		must(t, here.DeleteToggle(t.Context(), d.Name))
	}

	// The import is killed after it has written some. It has waited for the limit of searches before.
	began = time.Now()
	killed := admin.command(t)
	must(t, killed.Start())
	process.Await(t, "500 toggles are imported", 20*time.Millisecond, 5*time.Minute, func() bool {
		all, err := here.Toggles(t.Context())
		must(t, err)
		return len(all) >= 500
	})
	must(t, killed.Process.Kill())
	_ = killed.Wait() // killed
	partly, err := here.Toggles(t.Context())
	must(t, err)
	if len(partly) >= len(want) {
		t.Fatalf("the import ended before it was killed")
	}
	t.Logf("killed after %d toggles and %s", len(partly), time.Since(began).Round(time.Second))
	s.restart(t, 1000)

	// A dry run changes nothing, and says what an import does.
	before := lastEvent(t, i)
	dry := admin.report(t, "--dry-run")
	if lastEvent(t, i) != before {
		t.Errorf("the dry run has changed something")
	}

	// The second one writes the rest.
	began = time.Now()
	second := admin.report(t)
	t.Logf("imported the others in %s", time.Since(began).Round(time.Second))
	if n := len(second.Features.Created); n != len(want)-len(partly) || second.Features.Unchanged != len(partly) ||
		len(second.Features.Updated) != 0 {
		t.Errorf("created %d, unchanged %d, updated %v", n, second.Features.Unchanged, second.Features.Updated)
	}
	dry.DryRun = false
	same(t, "the report, and that of the dry run", dry, second)
	s.compare(t, here, want)
	wantRemarks(t, second)
	wantEvent(t, i)

	// The third one changes nothing, and records nothing.
	before = lastEvent(t, i)
	began = time.Now()
	third := admin.report(t)
	t.Logf("compared %d toggles in %s", third.Features.Unchanged, time.Since(began).Round(time.Second))
	if third.Changed() || third.Features.Unchanged != len(want) || lastEvent(t, i) != before {
		t.Errorf("the third import has changed something: %+v", third)
	}

	// Later changes in Unleash are imported, and only these. With --project, only those of a project.
	s.call(t, request{http.MethodPost, "projects/default/archive", object{"features": []string{"toggle-0001"}}})
	s.call(t, request{http.MethodPost, "projects/shop/stale", object{"features": []string{"toggle-0002"}, "stale": true}})
	s.call(t, request{http.MethodPut, "feature-types/operational/lifetime", object{"lifetimeDays": 9}})
	shop := admin.report(t, "--project", "shop")
	same(t, "updated in shop", []transfer.Update{{Name: "toggle-0002", Members: []string{"stale"}}}, shop.Features.Updated)
	all := admin.report(t)
	same(t, "updated", []transfer.Update{{Name: "toggle-0001", Members: []string{"archived", "archivedAt"}}},
		all.Features.Updated)
	lifetimes := slices.Concat(shop.FeatureTypes.Updated, all.FeatureTypes.Updated)
	same(t, "updated types", []transfer.Update{{Name: "operational", Members: []string{"lifetimeDays"}}}, lifetimes)

	// What Unleash exports of an environment changes nothing here.
	export := s.call(t, request{http.MethodPost, "features-batch/export",
		object{"environment": "production", "features": []string{}}})
	d, err := operator.ParseImport("export", export)
	must(t, err)
	report, err := here.Import(t.Context(), d, transfer.Options{Progress: func(string, int, int) {}})
	if err != nil || report.Changed() || report.Features.Unchanged < toggles/2 {
		t.Errorf("the export of Unleash has changed something: %+v, %v", report, err)
	}
	transferAll(t, here)
}

// fill creates toggles, context fields and a project in Unleash, and returns the toggles that can be imported.
func (s *server) fill(t *testing.T) imported {
	t.Helper()
	s.sql(t, `INSERT INTO projects (id, name) VALUES ('shop', 'Shop');
		INSERT INTO project_environments (project_id, environment_name) VALUES ('shop', 'development'), ('shop', 'production');`)
	var create, configure []request
	for n := range fields {
		create = append(create, request{http.MethodPost, "context", object{
			"name": fieldName(n), "description": fmt.Sprintf("Field %d <é>", n), "stickiness": n%2 == 0, "sortOrder": n + 5,
			"legalValues": []object{{"value": "a b", "description": "first"}, {"value": "ü"}},
		}})
	}
	want, archive := imported{}, map[string][]string{}
	for n := range toggles {
		w := transfer.Toggle{
			Name: toggleName(n), Project: []string{"default", "shop"}[n/2%2],
			Type:           []string{"release", "experiment", "operational", "sunset"}[n%4],
			ImpressionData: n%3 == 0, CreatedAt: new(createdAt(n)), CreatedBy: new("Unleash Admin Token User"),
			ContextFields: []string{},
		}
		if n%7 == 0 {
			w.Description = new(strings.Repeat("long é", 1+n%300))
		}
		create = append(create, request{http.MethodPost, "projects/" + w.Project + "/features", object{
			"name": w.Name, "type": w.Type, "description": w.Description, "impressionData": w.ImpressionData,
		}})
		if n%5 == 0 {
			w.ContextFields = []string{fieldName(n % fields), fieldName((n + 1) % fields), "userId"}
			slices.Sort(w.ContextFields)
			configure = append(configure, request{
				http.MethodPost, "projects/" + w.Project + "/features/" + w.Name + "/environments/development/strategies", object{
					"name": "flexibleRollout", "parameters": object{"rollout": "50", "stickiness": "default", "groupId": w.Name},
					"constraints": []object{{"contextName": fieldName(n % fields), "operator": "IN", "values": []string{"a b"}}},
				},
			}, request{
				http.MethodPost, "projects/" + w.Project + "/features/" + w.Name + "/environments/production/strategies", object{
					"name": "flexibleRollout", "parameters": object{"rollout": "50", "stickiness": fieldName((n + 1) % fields),
						"groupId": w.Name},
					"constraints": []object{
						{"contextName": "userId", "operator": "IN", "values": []string{"7"}},
						{"contextName": fmt.Sprintf("gone-%d", n%2), "operator": "IN", "values": []string{"7"}},
					},
				},
			})
		}
		if w.Stale = n%11 == 0; w.Stale {
			configure = append(configure, request{http.MethodPost, "projects/" + w.Project + "/stale",
				object{"features": []string{w.Name}, "stale": true}})
		}
		if w.Archived = isArchived(n); w.Archived {
			if n%5 == 0 { // it keeps a field that does not exist
				w.ContextFields = append(w.ContextFields, fmt.Sprintf("gone-%d", n%2))
				slices.Sort(w.ContextFields)
			}
			w.ArchivedAt = new("2026-11-01T00:00:00.000Z")
			archive[w.Project] = append(archive[w.Project], w.Name)
		}
		want[w.Name] = w
	}
	create = append(create, request{http.MethodPost, "projects/default/features", object{"name": "revive"}})
	s.call(t, create...)
	s.call(t, configure...)
	for project, names := range archive {
		s.call(t, request{http.MethodPost, "projects/" + project + "/archive", object{"features": names}})
	}
	statements := []string{
		"UPDATE features SET archived_at = '2026-11-01T00:00:00Z' WHERE archived_at IS NOT NULL;",
		// possible in old versions
		"INSERT INTO features (name, project) VALUES ('a name/of an old version', 'default'), ('..', 'shop');",
		"INSERT INTO features (name, project, type) VALUES ('of-no-type', 'default', 'gone');",
	}
	for n := range toggles {
		statements = append(statements, fmt.Sprintf("UPDATE features SET created_at = '%s' WHERE name = '%s';", createdAt(n),
			toggleName(n)))
	}
	s.sql(t, strings.Join(statements, "\n"))
	return want
}

// compare compares the toggles and the context fields here with those that Unleash has.
func (s *server) compare(t *testing.T, here *operator.Operator, want imported) {
	t.Helper()
	d, err := here.Export(t.Context())
	must(t, err)
	got := imported{}
	for _, f := range d.Features {
		got[f.Name] = f
	}
	for name, w := range want {
		if w.Description != nil && len([]rune(*w.Description)) > 1000 {
			w.Description = new(string([]rune(*w.Description)[:1000]))
			want[name] = w
		}
	}
	same(t, "toggles", want, got)
	all, err := here.Toggles(t.Context())
	must(t, err)
	for _, toggle := range all { // all are older than the lifetimes
		if toggle.PotentiallyStale == (toggle.Archived || toggle.Stale) {
			t.Errorf("%s: potentially stale: %t", toggle.Name, toggle.PotentiallyStale)
		}
	}
	if n := len(d.ContextFields); n != fields+5 {
		t.Errorf("%d context fields", n)
	}
	i := slices.IndexFunc(d.ContextFields, func(f transfer.ContextField) bool { return f.Name == fieldName(42) })
	f := d.ContextFields[i]
	f.CreatedAt = nil
	same(t, "a field", transfer.ContextField{
		Name: fieldName(42), Description: new("Field 42 <é>"), Stickiness: true, SortOrder: 47,
		LegalValues: []transfer.LegalValue{{Value: "a b", Description: new("first")}, {Value: "ü"}},
	}, f)
	last := d.FeatureTypes[len(d.FeatureTypes)-1]
	last.Description = ""
	same(t, "the new type", transfer.FeatureType{ID: "sunset", Name: "Sunset", LifetimeDays: new(int64(90))}, last)
}

// wantRemarks checks that everything that was not imported is listed.
func wantRemarks(t *testing.T, r transfer.Report) {
	t.Helper()
	var skipped []string
	for _, s := range r.Features.Skipped {
		skipped = append(skipped, s.Name)
	}
	slices.Sort(skipped)
	same(t, "skipped", []string{"..", "a name/of an old version", "of-no-type", "revive"}, skipped)
	unknown, cut := 0, 0
	for _, n := range r.Features.Notes {
		if strings.Contains(n.Text, `context fields that do not exist: "gone-`) {
			unknown++
		} else if strings.Contains(n.Text, "its description was cut") {
			cut++
		}
	}
	wantUnknown, wantCut := 0, 0
	for n := range toggles {
		if n%5 == 0 && !isArchived(n) {
			wantUnknown++
		}
		if n%7 == 0 && 6*(1+n%300) > 1000 {
			wantCut++
		}
	}
	if unknown != wantUnknown || cut != wantCut || len(r.Features.Notes) != unknown+cut {
		t.Errorf("%d notes about unknown fields, want %d, %d about descriptions, want %d, of %d", unknown, wantUnknown, cut,
			wantCut, len(r.Features.Notes))
	}
}

// wantEvent checks that the operator has created a toggle, and that the event names the author in Unleash.
func wantEvent(t *testing.T, i *installation.Installation) {
	t.Helper()
	all, err := i.Log(time.Now).Newest(t.Context(), eventlog.Filter{Features: []string{"toggle-0001"}}, 10)
	must(t, err)
	var data struct{ CreatedBy, CreatedAt string }
	created := slices.IndexFunc(all, func(e eventlog.Event) bool { return e.Type == eventlog.FeatureCreated })
	if created < 0 {
		t.Fatalf("events: %+v", all)
	}
	must(t, json.Unmarshal(all[created].Data, &data))
	if data.CreatedBy != "Unleash Admin Token User" || data.CreatedAt != createdAt(1) ||
		!strings.HasPrefix(all[created].By.Name, "operator ") {
		t.Errorf("%+v by %s", data, all[created].By.Name)
	}
}

func lastEvent(t *testing.T, i *installation.Installation) int64 {
	t.Helper()
	newest, err := i.Log(time.Now).Newest(t.Context(), eventlog.Filter{}, 1)
	must(t, err)
	return newest[0].ID
}

// transferAll exports everything and imports it into an empty installation, which is equal then.
func transferAll(t *testing.T, here *operator.Operator) {
	t.Helper()
	d, err := here.Export(t.Context())
	must(t, err)
	text, err := json.Marshal(d)
	must(t, err)
	db := database.New(t)
	_, err = seed.Initialize(t.Context(), seed.Config{Client: db.Client, Tables: db.Tables, Now: time.Now,
		Random: rand.Reader},
		seed.Administrator{Name: "admin", Email: "admin@example.com"})
	must(t, err)
	there := operator.New(&installation.Installation{Client: db.Client, Tables: db.Tables}, time.Now, rand.Reader)
	parsed, err := operator.ParseImport("export", text)
	must(t, err)
	began := time.Now()
	_, err = there.Import(t.Context(), parsed, transfer.Options{Progress: func(string, int, int) {}})
	must(t, err)
	t.Logf("imported the file in %s", time.Since(began).Round(time.Second))
	got, err := there.Export(t.Context())
	must(t, err)
	for i, f := range d.ContextFields { // those that every installation begins with keep their time of creation
		if !strings.HasPrefix(f.Name, "field.") {
			d.ContextFields[i].CreatedAt = got.ContextFields[i].CreatedAt
		}
	}
	same(t, "the other installation", d, got)
}

// toggleadmin is the program, with an Unleash and a local service.
type toggleadmin struct {
	program, data string
	unleash       *server
}

func newToggleadmin(t *testing.T, s *server, data string) toggleadmin {
	t.Helper()
	program := filepath.Join(t.TempDir(), "toggleadmin")
	if output, err := exec.CommandContext(t.Context(), "go", "build", "-o", program,
		"toggleadmin/cmd/toggleadmin").CombinedOutput(); err != nil {
		t.Fatalf("build toggleadmin: %v: %s", err, output)
	}
	return toggleadmin{program, data, s}
}

func (a toggleadmin) command(t *testing.T, options ...string) *exec.Cmd {
	t.Helper()
	arguments := append([]string{"import", "unleash", "--url", a.unleash.url, "--local", "--data-dir", a.data, "--json"},
		options...)
	command := exec.CommandContext(context.WithoutCancel(t.Context()), a.program, arguments...)
	command.Env = append(os.Environ(), "UNLEASH_TOKEN="+token)
	return command
}

// report runs an import to its end.
func (a toggleadmin) report(t *testing.T, options ...string) (r transfer.Report) {
	t.Helper()
	var stderr bytes.Buffer
	command := a.command(t, options...)
	command.Stderr = &stderr
	output, err := command.Output()
	if err != nil || stderr.Len() > 0 {
		t.Fatalf("import %v: %v: %s", options, err, stderr.String())
	}
	must(t, json.Unmarshal(output, &r))
	return r
}

func same(t *testing.T, what string, want, got any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s:\n%.3000s", what, diff)
	}
}
