package transfer_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp/cmpopts"

	"toggleadmin/pkg/api/contextfield"
	"toggleadmin/pkg/api/feature"
	"toggleadmin/pkg/api/featuretype"
	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/operator/transfer"
	"toggleadmin/test/assert"
	"toggleadmin/test/database"
	"toggleadmin/test/table"
)

// stage is an installation with the type release and the context field userId.
type stage struct {
	*database.Database
	transfer.Installation
}

func newStage(t *testing.T) stage {
	t.Helper()
	db := database.New(t)
	s := stage{db, transfer.Installation{
		Types:    featuretype.NewStore(db.Client, db.Tables, db.Log()),
		Fields:   contextfield.NewStore(db.Client, db.Tables, db.Log()),
		Features: feature.NewStore(db.Client, db.Tables, db.Log()),
		Users:    user.NewStore(db.Client, db.Tables, db.Log()),
		Issuer:   "https://issuer.example.com",
		Now:      func() time.Time { return time.Date(2026, 11, 20, 5, 39, 0, 0, time.UTC) },
	}}
	assert.OK(t, s.Types.Create(t.Context(), featuretype.Defaults()[0]))
	_, err := s.Fields.Create(t.Context(), contextfield.ContextField{Name: "userId"})
	assert.OK(t, err)
	return s
}

// run imports a document, with its accounts, and fails the test on an error.
func (s stage) run(t *testing.T, d transfer.Document, o transfer.Options) transfer.Report {
	t.Helper()
	o.Progress, o.Accounts = func(string, int, int) {}, true
	r, err := s.Import(t.Context(), d, o)
	assert.OK(t, err)
	return r
}

func (s stage) export(t *testing.T) transfer.Document {
	t.Helper()
	d, err := s.Export(t.Context())
	assert.OK(t, err)
	return d
}

func same(t *testing.T, want, got any) {
	t.Helper()
	assert.Equal(t, want, got, cmpopts.EquateEmpty())
}

// document reads a document.
func document(t *testing.T, file string) transfer.Document {
	t.Helper()
	content, err := os.ReadFile("testdata/" + file)
	assert.OK(t, err)
	d, err := transfer.Parse([]byte(strings.ReplaceAll(string(content), "LONG", strings.Repeat("é", 1001))))
	assert.OK(t, err)
	return d
}

// An import creates and updates, is recorded, and a second one changes nothing. Its export makes another installation
// equal.
func TestImport(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	d, before, events := document(t, "document.json"), s.export(t), s.Events(t)
	want := s.run(t, d, transfer.Options{DryRun: true})
	same(t, before, s.export(t))
	same(t, events, s.Events(t))
	want.DryRun = false
	got := s.run(t, d, transfer.Options{})
	same(t, want, got)
	stored, events := s.export(t), s.Events(t)
	assert.JSON(t, "testdata/imported.json", got)
	assert.JSON(t, "testdata/stored.json", stored)
	assert.JSON(t, "testdata/events.json", events)

	again := s.run(t, d, transfer.Options{})
	assert.JSON(t, "testdata/again.json", again)
	same(t, events, s.Events(t))

	text, err := json.Marshal(stored)
	assert.OK(t, err)
	parsed, err := transfer.Parse(text)
	assert.OK(t, err)
	other := newStage(t)
	other.run(t, parsed, transfer.Options{})
	same(t, stored, other.export(t))
}

// What has changed in the document is updated, except what cannot be changed. What is not in the document stays.
func TestUpdate(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.run(t, document(t, "document.json"), transfer.Options{})
	assert.JSON(t, "testdata/updated.json", s.run(t, document(t, "changed.json"), transfer.Options{}))
	assert.JSON(t, "testdata/toggles.json", s.export(t).Features)

	// An export of one environment of Unleash has neither times nor all context fields.
	r := s.run(t, transfer.Document{Partial: true,
		Features: []transfer.Toggle{{Name: "full", Project: "p", Type: "release", ContextFields: []string{"userId"}}}},
		transfer.Options{})
	same(t, []transfer.Update{{"full", []string{"contextFields"}}}, r.Features.Updated)
	same(t, []string{"plan", "userId"}, s.export(t).Features[0].ContextFields)
}

// What cannot be imported is listed, and the rest is imported.
func TestSkipped(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	var used []string
	many := transfer.Document{}
	for n := range feature.MaxContextFields + 1 {
		used = append(used, fmt.Sprintf("f%02d", n))
		many.ContextFields = append(many.ContextFields, transfer.ContextField{Name: used[n]})
	}
	s.run(t, many, transfer.Options{})
	var values []transfer.LegalValue
	for n := range 1000 { // within the limits of the document, but above the maximum size of an item
		values = append(values, transfer.LegalValue{fmt.Sprint(n), new(strings.Repeat("d", 400))})
	}
	d := document(t, "skipped.json")
	d.ContextFields[4].LegalValues, d.ContextFields[7].LegalValues = make([]transfer.LegalValue, 1001), values
	d.Features[6].ContextFields = append(used, "large", "gone")
	assert.JSON(t, "testdata/partly.json", s.run(t, d, transfer.Options{}))
}

// Without Options.Accounts, accounts are not imported.
func TestWithoutAccounts(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	r, err := s.Import(t.Context(), document(t, "document.json"), transfer.Options{Progress: func(string, int, int) {}})
	assert.OK(t, err)
	same(t, transfer.Section{}, r.Accounts)
	same(t, []transfer.Account(nil), s.export(t).Accounts)
}

// Toggles above the limit are skipped, and existing ones are still updated. A dry run tells it.
func TestLimit(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	toggles := func(project string, names ...string) (d transfer.Document) {
		for _, name := range names {
			d.Features = append(d.Features, transfer.Toggle{Name: name, Project: project, Type: "release"})
		}
		return d
	}
	s.run(t, toggles("p", "a"), transfer.Options{})
	s.Features.SetLimit(2)
	for _, dryRun := range []bool{true, false} {
		r := s.run(t, toggles("q", "c", "b", "a"), transfer.Options{DryRun: dryRun}).Features
		same(t, []string{"c"}, r.Created)
		same(t, []transfer.Update{{"a", []string{"project"}}}, r.Updated)
		same(t, []transfer.Remark{{"b", "the maximum number of toggles (MaxFeatures = 2), including archived ones, is reached"}},
			r.Skipped)
	}
}

// An archived toggle keeps a field that is gone, and nothing changes when it is imported again.
func TestFieldIsGone(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	d := transfer.Document{Features: []transfer.Toggle{
		{Name: "old", Project: "default", Type: "release", Archived: true, ContextFields: []string{"gone"}},
	}}
	same(t, transfer.Section{Created: []string{"old"}}, s.run(t, d, transfer.Options{}).Features)
	same(t, transfer.Section{Unchanged: 1}, s.run(t, d, transfer.Options{}).Features)
	same(t, []string{"gone"}, s.export(t).Features[0].ContextFields)
}

// An import that is interrupted can be repeated.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	s, d := newStage(t), document(t, "document.json")
	ctx, interrupt := context.WithCancel(t.Context())
	client := s.Before(t, "TransactWriteItems", 1, interrupt)
	s.Features = feature.NewStore(client, s.Tables, s.LogThrough(client))
	r, err := s.Import(ctx, d, transfer.Options{Progress: func(string, int, int) {}})
	assert.ErrorIs(t, err, context.Canceled)
	if !strings.Contains(err.Error(), `import toggles: "full"`) {
		t.Error(err)
	}
	same(t, []int{1, 0}, []int{len(r.ContextFields.Created), len(r.Features.Created)})
	r = s.run(t, d, transfer.Options{})
	same(t, []int{2, 2, 2}, []int{r.FeatureTypes.Unchanged, r.ContextFields.Unchanged,
		len(r.Features.Created) + r.Features.Unchanged})
}

func TestProject(t *testing.T) {
	t.Parallel()
	s, d := newStage(t), document(t, "document.json")
	d.Features[0].ContextFields = []string{"plan"}
	same(t, transfer.Report{
		FeatureTypes:  transfer.Section{Created: []string{"sunset"}},
		ContextFields: transfer.Section{Created: []string{"plan"}}, Features: transfer.Section{Created: []string{"full"}},
	}, s.run(t, d, transfer.Options{Project: "shop"}))
}

func TestParse(t *testing.T) {
	t.Parallel()
	for _, row := range table.Rows(t, 2, `
		{"format":"toggleadmin","version":2} | version 2
		{"features":[]} | it is not an export of toggleadmin
		{ | it is not JSON
		[] | the value at "" cannot be of the type array
		{"format":"toggleadmin","version":"1"} | the value at "/version" cannot be of the type string
		{"format":"toggleadmin","version":1,"features":[{"name":1}]} | the value at "/features/0/name" cannot be of the type number
		{"format":"toggleadmin","version":1,"contextFields":[{"name":"plan","legalvalues":[]}]} | /contextFields/0/legalvalues
	`) {
		if _, err := transfer.Parse([]byte(row[0])); err == nil || !strings.Contains(err.Error(), row[1]) {
			t.Errorf("%s: %v", row, err)
		}
	}
}
