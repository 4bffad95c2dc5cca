package unleash_test

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"toggleadmin/pkg/local"
	"toggleadmin/pkg/operator"
	"toggleadmin/pkg/operator/exitstatus"
	"toggleadmin/pkg/operator/installation"
	"toggleadmin/pkg/operator/transfer"
	"toggleadmin/pkg/toggle"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/localtest"
	"toggleadmin/test/helper/process"
	"toggleadmin/test/helper/unleashserver"
)

const toggles = 2000

// TestImport imports 2,000 toggles of an Unleash: it kills the import, and repeats it. It repeats it again, which
// changes nothing, and after changes in Unleash, which changes only these.
func TestImport(t *testing.T) {
	s := startUnleash(t)
	statements, err := os.ReadFile("testdata/fill.sql")
	assert.OK(t, err)
	s.sql(t, string(statements))
	data := filepath.Join(t.TempDir(), "data")
	_, stop := localtest.StartStop(t, local.Config{DataDir: data})
	defer stop()
	command := s.importer(t, data)
	i, err := installation.OpenLocal(t.Context(), data)
	assert.OK(t, err)
	here := operator.New(i, time.Now, rand.Reader)
	demonstration, err := here.Toggles(t.Context())
	assert.OK(t, err)
	for _, d := range demonstration {
		assert.OK(t, here.DeleteToggle(t.Context(), d.Name))
	}

	// The import is killed after it has written some. It has waited for the limit of searches before.
	killed := command()
	assert.OK(t, killed.Start())
	var partly int
	process.Await(t, "500 toggles are imported", 20*time.Millisecond, 5*time.Minute, func() bool {
		all, err := here.Toggles(t.Context())
		assert.OK(t, err)
		partly = len(all)
		return partly >= 500
	})
	assert.OK(t, killed.Process.Kill())
	_ = killed.Wait() // killed
	s.restart(t, 1000)

	// The second one writes the rest.
	second := report(t, command()).Features
	if created := len(second.Created); created == 0 || created+second.Unchanged != toggles || second.Unchanged < partly ||
		len(second.Updated) != 0 {
		t.Errorf("created %d, unchanged %d, updated %v", created, second.Unchanged, second.Updated)
	}
	compare(t, here)
	var skipped []string
	for _, remark := range second.Skipped {
		skipped = append(skipped, remark.Name)
	}
	slices.Sort(skipped)
	same(t, "skipped", []string{"..", "a name/of an old version", "of-no-type", "revive"}, skipped)
	if third := report(t, command()); changed(third) || third.Features.Unchanged != toggles {
		t.Errorf("the third import has changed something: %+v", third)
	}

	// Later changes in Unleash are imported, and only these. With --project, only those of a project.
	s.call(t, http.MethodPost, "projects/default/archive", `{"features": ["toggle-0001"]}`)
	s.call(t, http.MethodPost, "projects/shop/stale", `{"features": ["toggle-0002"], "stale": true}`)
	s.call(t, http.MethodPut, "feature-types/operational/lifetime", `{"lifetimeDays": 9}`)
	shop, all := report(t, command("--project", "shop")), report(t, command())
	same(t, "updated in shop", []transfer.Update{{Name: "toggle-0002", Properties: []string{"stale"}}},
		shop.Features.Updated)
	same(t, "updated", []transfer.Update{{Name: "toggle-0001", Properties: []string{"archived", "archivedAt"}}},
		all.Features.Updated)
	lifetimes := slices.Concat(shop.FeatureTypes.Updated, all.FeatureTypes.Updated)
	same(t, "updated types", []transfer.Update{{Name: "operational", Properties: []string{"lifetimeDays"}}}, lifetimes)

	// What Unleash exports of an environment changes nothing here.
	export := s.call(t, http.MethodPost, "features-batch/export", `{"environment": "production", "features": []}`)
	d, err := operator.ParseImport("export", export)
	assert.OK(t, err)
	again, err := here.Import(t.Context(), d, transfer.Options{Progress: func(string, int, int) {}})
	if err != nil || changed(again) || again.Features.Unchanged < toggles/2 {
		t.Errorf("the export of Unleash has changed something: %+v, %v", again, err)
	}
}

// compare compares some toggles, a context field and the new type here with testdata/imported.json, and the number of
// toggles and their flags.
func compare(t *testing.T, here *operator.Operator) {
	t.Helper()
	d, err := here.Export(t.Context())
	assert.OK(t, err)
	var some struct {
		Features []toggle.FeatureJSON
		Field    transfer.ContextField
		Type     toggle.Type
	}
	for _, f := range d.Features {
		if slices.Contains([]string{
			"toggle-0000", "toggle-0003", "toggle-0005", "toggle-0007", "toggle-0011", "toggle-0045", "toggle-0168", "...",
			"~tilde_and-dash.dot", "TOGGLE-0001", "0",
		}, f.Name) || len(f.Name) == 100 {
			some.Features = append(some.Features, f)
		}
	}
	for _, f := range d.ContextFields {
		if f.Name == "field.042~x" {
			some.Field, some.Field.CreatedAt = f, nil
		}
	}
	some.Type = d.FeatureTypes[len(d.FeatureTypes)-1]
	assert.JSON(t, "testdata/imported.json", some)
	same(t, "number of toggles and fields", []int{toggles, 200 + 5 + 2}, []int{len(d.Features), len(d.ContextFields)})
	all, err := here.Toggles(t.Context())
	assert.OK(t, err)
	for _, f := range all { // all are older than the lifetimes
		if f.PotentiallyStale == (f.Archived || f.Stale) {
			t.Errorf("%s: potentially stale: %t", f.Name, f.PotentiallyStale)
		}
	}
}

// importer builds toggleadmin and returns a function that makes commands that import from Unleash to a local service.
func (s *server) importer(t *testing.T, data string) func(options ...string) *exec.Cmd {
	t.Helper()
	program := process.Build(t, "toggleadmin/cmd/toggleadmin")
	return func(options ...string) *exec.Cmd {
		command := exec.CommandContext(t.Context(), program, append([]string{"import", "unleash", "--url", s.URL, "--local",
			"--data-dir", data, "--json", "--creators"}, options...)...)
		command.Env = append(os.Environ(), "UNLEASH_TOKEN="+unleashserver.AdminToken)
		return command
	}
}

// report runs an import to its end.
func report(t *testing.T, command *exec.Cmd) (r transfer.Report) {
	t.Helper()
	var stderr bytes.Buffer
	command.Stderr = &stderr
	output, err := command.Output()
	if exited, ok := errors.AsType[*exec.ExitError](err); ok && exited.ExitCode() == int(exitstatus.Lost) && len(output) > 0 {
		err = nil // toggles with names that this service does not accept
		stderr.Reset()
	}
	if err != nil || stderr.Len() > 0 {
		t.Fatalf("%v: %v: %s", command.Args, err, stderr.String())
	}
	assert.OK(t, json.Unmarshal(output, &r))
	return r
}

// changed reports whether an import changed types, context fields, toggles or accounts.
func changed(r transfer.Report) bool {
	return slices.ContainsFunc([]transfer.Section{r.FeatureTypes, r.ContextFields, r.Features, r.Accounts},
		func(s transfer.Section) bool { return len(s.Created)+len(s.Updated) > 0 })
}

func same(t *testing.T, what string, want, got any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s:\n%.3000s", what, diff)
	}
}
