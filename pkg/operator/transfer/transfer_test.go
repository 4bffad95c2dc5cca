package transfer_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"toggleadmin/pkg/api/contextfield"
	"toggleadmin/pkg/api/eventlog"
	"toggleadmin/pkg/api/feature"
	"toggleadmin/pkg/api/featuretype"
	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/operator/transfer"
	"toggleadmin/test/assert"
	"toggleadmin/test/database"
	"toggleadmin/test/golden"
)

// stage is an installation with the type release and the context field userId.
type stage struct {
	*database.Database
	transfer.Installation
}

func newStage(t *testing.T, respond func(*database.Call) (*http.Response, error)) stage {
	t.Helper()
	db := database.New(t)
	assert.OK(t, featuretype.NewStore(db.Client, db.Tables, eventlog.Quiet(db.Client)).Create(t.Context(),
		featuretype.Defaults()[0]))
	assert.OK(t, contextfield.NewStore(db.Client, db.Tables, eventlog.Quiet(db.Client)).Create(t.Context(),
		contextfield.ContextField{Name: "userId"}))
	client, _ := db.Through(t, respond)
	now := func() time.Time { return time.Date(2026, 11, 20, 5, 39, 0, 0, time.UTC) }
	log := eventlog.New(client, db.Tables, now, 0)
	return stage{db, transfer.Installation{
		Types: featuretype.NewStore(client, db.Tables, log), Fields: contextfield.NewStore(client, db.Tables,
			log).Limited(1_000_000),
		Features: feature.NewStore(client, db.Tables, log),
		Users:    user.NewStore(client, db.Tables, log),
		Now:      now,
	}}
}

// run imports a document and fails the test on an error.
func (s stage) run(t *testing.T, d transfer.Document, o transfer.Options) transfer.Report {
	t.Helper()
	o.Progress = func(string, int, int) {}
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

func same(t *testing.T, what string, want, got any) {
	t.Helper()
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("%s:\n%s", what, diff)
	}
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
	s := newStage(t, nil)
	before := s.export(t)
	want := s.run(t, document(t, "document.json"), transfer.Options{DryRun: true})
	same(t, "after the dry run", before, s.export(t))
	if events := s.Events(t); len(events) != 0 {
		t.Errorf("the dry run has recorded %q", events)
	}
	want.DryRun = false
	got := s.run(t, document(t, "document.json"), transfer.Options{})
	same(t, "the report of the dry run, and of the import", want, got)
	golden.JSON(t, "testdata/imported.json", got)
	golden.JSON(t, "testdata/stored.json", s.export(t))
	events := s.Events(t)
	if kinds := kindsOf(events); !slices.Equal(kinds, []string{
		"feature-type-updated", "feature-type-created", "context-field-updated", "context-field-created", "feature-created",
		"feature-created",
		"user-created", "user-created", "service-account-created",
	}) || !strings.Contains(events[4], `"createdBy":"Ada"`) {
		t.Errorf("events: %q", events)
	}

	again := s.run(t, document(t, "document.json"), transfer.Options{})
	if again.Changed() || again.FeatureTypes.Unchanged+again.ContextFields.Unchanged+again.Features.Unchanged != 6 ||
		again.Accounts.Unchanged != 3 || len(s.Events(t)) != len(events) {
		t.Errorf("the second import has changed something: %+v", again)
	}

	text, err := json.Marshal(s.export(t))
	assert.OK(t, err)
	parsed, err := transfer.Parse(text)
	assert.OK(t, err)
	other := newStage(t, nil)
	other.run(t, parsed, transfer.Options{})
	same(t, "the other installation", s.export(t), other.export(t))
}

func kindsOf(events []string) (kinds []string) {
	for _, e := range events {
		kind, _, _ := strings.Cut(e, " ")
		kinds = append(kinds, kind)
	}
	return kinds
}

// What has changed in the document is updated, except what cannot be changed. What is not in the document stays.
func TestUpdate(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil)
	s.run(t, document(t, "document.json"), transfer.Options{})
	d := document(t, "document.json")
	d.Features = d.Features[:1]
	f := &d.Features[0]
	f.Project, f.Type, f.Description, f.ImpressionData, f.Stale, f.Archived, f.ArchivedAt = "p", "release", nil, false,
		false, false, nil
	f.ContextFields, f.CreatedAt, f.CreatedBy = []string{"plan"}, new("2022-01-01T00:00:00Z"), new("Bob")
	r := s.run(t, d, transfer.Options{})
	same(t, "updated", []transfer.Update{{"full", []string{
		"archived", "archivedAt", "contextFields", "description", "impressionData", "project", "stale", "type",
	}}}, r.Features.Updated)
	same(t, "notes", []transfer.Remark{
		{"full", "its time of creation stays 2020-01-02T03:04:05.678Z, and does not become 2022-01-01T00:00:00.000Z"},
	}, r.Features.Notes)
	d = document(t, "document.json")
	d.Accounts[0].Role, d.Accounts[2].Disabled = "Editor", true
	r = s.run(t, transfer.Document{Accounts: d.Accounts}, transfer.Options{})
	same(t, "accounts", transfer.Section{Unchanged: 3, Notes: []transfer.Remark{
		{"ada@example.com", "it exists, and was not changed: its role is Admin, disabled: true"},
		{"deploy (service account)", "it exists, and was not changed: its role is Editor, disabled: false"},
	}}, r.Accounts)
	want := *f
	want.CreatedAt, want.CreatedBy = document(t, "document.json").Features[0].CreatedAt, new("Ada")
	same(t, "stored", []transfer.Toggle{want, s.export(t).Features[1]}, s.export(t).Features)

	// An export of one environment of Unleash has neither times nor all context fields.
	d = transfer.Document{Partial: true,
		Features: []transfer.Toggle{{Name: "full", Project: "p", Type: "release", ContextFields: []string{"userId"}}}}
	same(t, "updated", []transfer.Update{{"full", []string{"contextFields"}}},
		s.run(t, d, transfer.Options{}).Features.Updated)
	same(t, "context fields", []string{"plan", "userId"}, s.export(t).Features[0].ContextFields)
}

// What cannot be imported is listed, and the rest is imported.
func TestSkipped(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil)
	var used []string
	many := transfer.Document{}
	for n := range feature.MaxContextFields + 1 {
		used = append(used, fmt.Sprintf("f%02d", n))
		many.ContextFields = append(many.ContextFields, transfer.ContextField{Name: used[n]})
	}
	s.run(t, many, transfer.Options{})
	s.Fields = s.Fields.Limited(30_000)
	var values []transfer.LegalValue
	for n := range 200 {
		values = append(values, transfer.LegalValue{fmt.Sprintf("%0250d", n), nil})
	}
	d := document(t, "skipped.json")
	d.ContextFields[4].LegalValues, d.ContextFields[7].LegalValues = make([]transfer.LegalValue, 1001), values
	d.Features[6].ContextFields = append(used, "large", "gone")
	golden.JSON(t, "testdata/partly.json", s.run(t, d, transfer.Options{}))
}

// An import that is interrupted can be repeated. TestFieldIsGone checks that an archived toggle keeps a field that is
// gone, and that nothing changes when it is imported again.
func TestFieldIsGone(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil)
	d := transfer.Document{Features: []transfer.Toggle{
		{Name: "old", Project: "default", Type: "release", Archived: true, ContextFields: []string{"gone"}},
	}}
	for _, want := range [][]string{{"old"}, {}} {
		r := s.run(t, d, transfer.Options{})
		same(t, "created", want, r.Features.Created)
		same(t, "notes", []transfer.Remark{}, r.Features.Notes)
	}
	if f, err := s.Features.Get(t.Context(), "old"); err != nil || len(f.ContextFields) != 1 {
		t.Errorf("%+v, %v", f, err)
	}
}

func TestInterrupted(t *testing.T) {
	t.Parallel()
	ctx, interrupt := context.WithCancel(t.Context())
	s := newStage(t, func(c *database.Call) (*http.Response, error) {
		if c.Operation == "TransactWriteItems" && c.N == 5 {
			interrupt()
		}
		return c.Pass()
	})
	r, err := s.Import(ctx, document(t, "document.json"), transfer.Options{Progress: func(string, int, int) {}})
	if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), `import toggles: "full"`) {
		t.Error(err)
	}
	if len(r.Features.Created) != 0 || len(r.ContextFields.Created) != 1 {
		t.Errorf("%+v", r)
	}
	again := s.run(t, document(t, "document.json"), transfer.Options{})
	if n := len(again.Features.Created) + again.Features.Unchanged; n != 2 || again.FeatureTypes.Unchanged != 2 ||
		again.ContextFields.Unchanged != 2 {
		t.Errorf("%+v", again)
	}
}

func TestProject(t *testing.T) {
	t.Parallel()
	s, d := newStage(t, nil), document(t, "document.json")
	d.Features[0].ContextFields = []string{"plan"}
	r := s.run(t, d, transfer.Options{Project: "shop"})
	same(t, "report", transfer.Report{
		FeatureTypes:  transfer.Section{Created: []string{"sunset"}},
		ContextFields: transfer.Section{Created: []string{"plan"}}, Features: transfer.Section{Created: []string{"full"}},
	}, r)
}

func TestParse(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"format":"toggleadmin","version":2}`: "version 2",
		`{"features":[]}`:                      "it is not an export of toggleadmin",
		`[`:                                    "it is not JSON",
		`{"format":"toggleadmin","version":1,"contextFields":[{"name":"plan","legalvalues":[]}]}`: "/contextFields/0/legalvalues",
	} {
		if _, err := transfer.Parse([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
