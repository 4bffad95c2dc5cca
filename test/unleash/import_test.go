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

	"toggleadmin/pkg/local"
	"toggleadmin/pkg/operator"
	"toggleadmin/pkg/operator/installation"
	"toggleadmin/pkg/operator/transfer"
	"toggleadmin/test/localtest"
	"toggleadmin/test/process"
)

const (
	toggles = 2000
	fields  = 200
)

// imported is what the test expects of the toggles.
type imported map[string]transfer.Toggle

// TestImport imports 2,000 toggles of an Unleash: it kills the import, and repeats it. It repeats it again, which
// changes nothing, and after changes in Unleash, which changes only these.
func TestImport(t *testing.T) {
	s := startUnleash(t)
	want := s.fill(t)
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
	s.restart(t, 1000)

	// The second one writes the rest.
	second := admin.report(t).Features
	if len(second.Created) != len(want)-len(partly) || second.Unchanged != len(partly) || len(second.Updated) != 0 {
		t.Errorf("created %d, unchanged %d, updated %v", len(second.Created), second.Unchanged, second.Updated)
	}
	s.compare(t, here, want)
	var skipped []string
	for _, remark := range second.Skipped {
		skipped = append(skipped, remark.Name)
	}
	slices.Sort(skipped)
	same(t, "skipped", []string{"..", "a name/of an old version", "of-no-type", "revive"}, skipped)
	if third := admin.report(t); third.Changed() || third.Features.Unchanged != len(want) {
		t.Errorf("the third import has changed something: %+v", third)
	}

	// Later changes in Unleash are imported, and only these. With --project, only those of a project.
	s.call(t, request{http.MethodPost, "projects/default/archive", object{"features": []string{"toggle-0001"}}})
	s.call(t, request{http.MethodPost, "projects/shop/stale", object{"features": []string{"toggle-0002"}, "stale": true}})
	s.call(t, request{http.MethodPut, "feature-types/operational/lifetime", object{"lifetimeDays": 9}})
	shop, all := admin.report(t, "--project", "shop"), admin.report(t)
	same(t, "updated in shop", []transfer.Update{{Name: "toggle-0002", Members: []string{"stale"}}}, shop.Features.Updated)
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
			configure = append(configure, strategy(w, "development", "default", fieldName(n%fields)),
				strategy(w, "production", fieldName((n+1)%fields), "userId", fmt.Sprintf("gone-%d", n%2)))
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

// strategy adds a strategy with constraints on context fields to a toggle.
func strategy(w transfer.Toggle, environment, stickiness string, constrained ...string) request {
	var constraints []object
	for _, field := range constrained {
		constraints = append(constraints, object{"contextName": field, "operator": "IN", "values": []string{"a b"}})
	}
	return request{
		http.MethodPost, "projects/" + w.Project + "/features/" + w.Name + "/environments/" + environment + "/strategies", object{
			"name": "flexibleRollout", "constraints": constraints,
			"parameters": object{"rollout": "50", "stickiness": stickiness, "groupId": w.Name},
		},
	}
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
