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
	"toggleadmin/pkg/api/environment"
	"toggleadmin/pkg/api/feature"
	"toggleadmin/pkg/api/featuretype"
	"toggleadmin/pkg/api/group"
	"toggleadmin/pkg/api/project"
	"toggleadmin/pkg/api/role"
	"toggleadmin/pkg/api/segment"
	"toggleadmin/pkg/api/tagtype"
	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/operator/exitstatus"
	"toggleadmin/pkg/operator/transfer"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/toggle"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/database"
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
		Types:        featuretype.NewStore(db.Client, db.Tables, db.Log()),
		Fields:       contextfield.NewStore(db.Client, db.Tables, db.Log()),
		Environments: environment.NewStore(db.Client, db.Tables, db.Log()),
		Projects:     project.NewStore(db.Client, db.Tables, db.Log()),
		Roles:        role.NewStore(db.Client, db.Tables, db.Log()),
		Groups:       group.NewStore(db.Client, db.Tables, db.Log()),
		Segments:     segment.NewStore(db.Client, db.Tables, db.Log()),
		TagTypes:     tagtype.NewStore(db.Client, db.Tables, db.Log()),
		Features:     feature.NewStore(db.Client, db.Tables, db.Log()),
		Users:        user.NewStore(db.Client, db.Tables, db.Log()),
		Issuer:       "https://issuer.example.com",
		Now:          func() time.Time { return time.Date(2026, 11, 20, 5, 39, 0, 0, time.UTC) },
		AccountLimit: user.DefaultLimit,
		NewStrategy:  newStrategies(),
	}}
	assert.OK(t, s.Types.Create(t.Context(), toggle.DefaultTypes()[0]))
	_, err := s.Fields.Create(t.Context(), contextfield.ContextField{Name: "userId"})
	assert.OK(t, err)
	return s
}

// newStrategies returns the ids new-1, new-2 and so on.
func newStrategies() func() string {
	n := 0
	return func() string {
		n++
		return fmt.Sprint("new-", n)
	}
}

// before returns the installation as another process sees it, which is interrupted before its n-th call of an operation.
func (s stage) before(t *testing.T, operation string, n int, do func()) transfer.Installation {
	t.Helper()
	client := s.Before(t, operation, n, do)
	log := s.LogThrough(client)
	other := s.Installation
	other.Types, other.Fields = featuretype.NewStore(client, s.Tables, log), contextfield.NewStore(client, s.Tables, log)
	other.Environments, other.Segments = environment.NewStore(client, s.Tables, log), segment.NewStore(client, s.Tables, log)
	other.Roles, other.Groups = role.NewStore(client, s.Tables, log), group.NewStore(client, s.Tables, log)
	other.Projects = project.NewStore(client, s.Tables, log)
	other.Features, other.Users = feature.NewStore(client, s.Tables, log), user.NewStore(client, s.Tables, log)
	return other
}

// run imports a document, with its accounts and the projects that only its toggles name, and fails the test on an error.
func (s stage) run(t *testing.T, d transfer.Document, o transfer.Options) transfer.Report {
	t.Helper()
	o.Progress, o.Accounts, o.CreateProjects = func(string, int, int) {}, true, true
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

// The import of an export of the same installation changes nothing, whatever context fields a toggle has beside those of
// its strategies.
func TestImportOfOwnExport(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	for _, name := range []string{"plan", "region"} {
		_, err := s.Fields.Create(t.Context(), contextfield.ContextField{Name: name})
		assert.OK(t, err)
	}
	_, err := s.Environments.Create(t.Context(), environment.Environment{Name: "production", Type: "production"})
	assert.OK(t, err)
	f := toggle.Feature{Name: "checkout", Project: "default", Type: "release", ContextFields: []string{"region"}}
	f.SetEnvironment("production", toggle.Environment{Enabled: true, Strategies: []toggle.Strategy{{
		ID: "1", Name: "default", Constraints: []toggle.Constraint{{ContextName: "plan", Operator: "IN", Values: []string{"pro"}}},
	}}})
	_, err = s.Features.Create(t.Context(), f)
	assert.OK(t, err)
	d := s.export(t)
	assert.Equal(t, []string{"plan", "region"}, d.Features[0].ContextFields)
	r := s.run(t, d, transfer.Options{})
	assert.Equal(t, 0, len(r.Features.Updated)+len(r.Features.Skipped)+len(r.Features.Notes))
	same(t, d, s.export(t))

	d.Features[0].Environments["production"], d.Features[0].ContextFields = toggle.Environment{}, nil
	s.run(t, d, transfer.Options{})
	assert.Equal(t, []string{"region"}, s.export(t).Features[0].ContextFields)
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

	movesUnchanged(t, stored)
}

// movesUnchanged imports the JSON form of an export into another installation, whose export must be the same.
func movesUnchanged(t *testing.T, exported transfer.Document) {
	t.Helper()
	text, err := json.Marshal(exported)
	assert.OK(t, err)
	parsed, err := transfer.Parse(text)
	assert.OK(t, err)
	other := newStage(t)
	other.run(t, parsed, transfer.Options{})
	same(t, exported, other.export(t))
}

// What has changed in the document is updated, except what cannot be changed. What is not in the document stays.
func TestUpdate(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.run(t, document(t, "document.json"), transfer.Options{})
	assert.JSON(t, "testdata/updated.json", s.run(t, document(t, "changed.json"), transfer.Options{}))
	assert.JSON(t, "testdata/toggles.json", s.export(t).Features)

	// An export of one environment of Unleash does not have the fields of a toggle without strategies.
	r := s.run(t, transfer.Document{
		Features: []toggle.FeatureJSON{{Name: "full", Project: "p", Type: "release"}},
	}, transfer.Options{})
	same(t, 1, r.Features.Unchanged)
}

// What cannot be imported is listed, and the rest is imported.
func TestSkipped(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	var used []string
	many := transfer.Document{}
	for n := range toggle.MaxContextFields + 1 {
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
			d.Features = append(d.Features, toggle.FeatureJSON{Name: name, Project: project, Type: "release"})
		}
		return d
	}
	s.run(t, toggles("p", "a"), transfer.Options{})
	s.FeatureLimit = 2
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
	d := transfer.Document{Features: []toggle.FeatureJSON{
		{Name: "old", Project: "default", Type: "release", Archived: true, ContextFields: []string{"gone"}},
	}}
	same(t, transfer.Section{Created: []string{"old"}}, s.run(t, d, transfer.Options{}).Features)
	same(t, transfer.Section{Unchanged: 1}, s.run(t, d, transfer.Options{}).Features)
	same(t, []string{"gone"}, s.export(t).Features[0].ContextFields)
}

// Two imports run at the same time: the first one creates everything after the second one has read the installation.
// What is equal is unchanged, and what differs is updated.
func TestTwoImports(t *testing.T) {
	t.Parallel()
	document := func(lifetime int64, description string) transfer.Document {
		return transfer.Document{
			FeatureTypes:  []toggle.Type{{ID: "sunset", LifetimeDays: &lifetime}},
			ContextFields: []transfer.ContextField{{Name: "plan", Description: &description}},
			Features: []toggle.FeatureJSON{
				{Name: "a", Project: "default", Type: "release"},
				{Name: "b", Project: "default", Type: "release", Description: &description},
			},
			Accounts: []transfer.Account{
				{Kind: user.Person, Name: "Ada", Role: "Admin"},
				{Kind: user.Person, Name: "Eve", Email: new("eve@example.com"), Role: "Admin"},
				{Kind: user.ServiceAccount, Name: "bot", Username: new("bot"), Role: "Admin"},
			},
		}
	}
	s := newStage(t)
	second := s.before(t, "TransactWriteItems", 1, func() { s.run(t, document(1, "first"), transfer.Options{}) })
	r, err := second.Import(t.Context(), document(2, "second"),
		transfer.Options{Accounts: true, Progress: func(string, int, int) {}})
	assert.OK(t, err)
	updated := func(name, property string) []transfer.Update { return []transfer.Update{{name, []string{property}}} }
	same(t, transfer.Report{
		FeatureTypes:  transfer.Section{Updated: updated("sunset", "lifetimeDays")},
		ContextFields: transfer.Section{Updated: updated("plan", "description")},
		Features:      transfer.Section{Updated: updated("b", "description"), Unchanged: 1},
		Accounts:      transfer.Section{Unchanged: 3},
	}, r)
	d := s.export(t)
	same(t, new(int64(2)), d.FeatureTypes[1].LifetimeDays)
	same(t, 3, len(d.Accounts))
}

// Two imports add the same person, whom only the name identifies, at the same time: the first one does so before each
// call of the second one. There is one person, and the second import finds it.
func TestTwoImportsOfOnePerson(t *testing.T) {
	t.Parallel()
	d := transfer.Document{Accounts: []transfer.Account{{Kind: user.Person, Name: "Ada", Role: "Admin"}}}
	for operation, calls := range map[string]int{"Scan": 7, "UpdateItem": 1, "TransactWriteItems": 1} {
		for call := 1; call <= calls; call++ {
			s := newStage(t)
			interrupted := false
			second := s.before(t, operation, call, func() {
				interrupted = true
				s.run(t, d, transfer.Options{})
			})
			r, err := second.Import(t.Context(), d, transfer.Options{Accounts: true, Progress: func(string, int, int) {}})
			assert.OK(t, err)
			same(t, transfer.Section{Unchanged: 1}, r.Accounts)
			if people := s.export(t).Accounts; len(people) != 1 || !interrupted {
				t.Errorf("before %s %d: %d people, interrupted: %t", operation, call, len(people), interrupted)
			}
		}
	}
}

// A toggle and a context field that an import updates are deleted meanwhile: the import creates them.
func TestDeletedMeanwhile(t *testing.T) {
	t.Parallel()
	document := func(description string) transfer.Document {
		return transfer.Document{
			ContextFields: []transfer.ContextField{{Name: "plan", Description: &description}},
			Features:      []toggle.FeatureJSON{{Name: "a", Project: "default", Type: "release", Description: &description}},
		}
	}
	s := newStage(t)
	s.run(t, document("first"), transfer.Options{})
	other := s.before(t, "TransactWriteItems", 1, func() {
		assert.OK(t, s.Fields.Delete(t.Context(), "plan"))
		assert.OK(t, s.Features.Delete(t.Context(), "a", nil))
	})
	r, err := other.Import(t.Context(), document("second"), transfer.Options{Progress: func(string, int, int) {}})
	assert.OK(t, err)
	same(t, transfer.Section{Created: []string{"plan"}}, r.ContextFields)
	same(t, transfer.Section{Created: []string{"a"}}, r.Features)
}

// A context field and a toggle that uses it are created while an export reads the installation: the document does not
// have a toggle whose field it lacks.
func TestExportDuringChanges(t *testing.T) {
	t.Parallel()
	for call := 1; call <= 6; call++ { // each table
		s := newStage(t)
		other := s.before(t, "Scan", call, func() {
			s.run(t, transfer.Document{
				ContextFields: []transfer.ContextField{{Name: "plan"}},
				Features:      []toggle.FeatureJSON{{Name: "a", Project: "default", Type: "release", ContextFields: []string{"plan"}}},
			}, transfer.Options{})
		})
		d, err := other.Export(t.Context())
		assert.OK(t, err)
		if len(d.Features) == 1 && len(d.ContextFields) == 1 {
			t.Errorf("before call %d: the document has the toggle, but not its field", call)
		}
	}
}

// Each element with a text that is too large for an item of DynamoDB is cut or skipped, in a dry run too, and the others
// are imported.
func TestTooLarge(t *testing.T) {
	t.Parallel()
	s, large := newStage(t), strings.Repeat("x", 500_000)
	d := transfer.Document{
		FeatureTypes: []toggle.Type{{ID: "sunset", Name: large, Description: large}},
		Features: []toggle.FeatureJSON{
			{Name: "toggle", Project: "default", Type: "sunset", Description: &large, CreatedBy: &large},
		},
		Accounts: []transfer.Account{
			{Kind: user.Person, Name: "Ada", Role: "Admin", Identity: &user.Identity{Issuer: s.Issuer, Subject: large}},
			{Kind: user.Person, Name: "Eve", Role: "Admin"},
		},
	}
	want := s.run(t, d, transfer.Options{DryRun: true})
	got := s.run(t, d, transfer.Options{})
	want.DryRun = false
	same(t, want, got)
	same(t, [][]string{{"sunset"}, {"toggle"}, {"Eve"}},
		[][]string{got.FeatureTypes.Created, got.Features.Created, got.Accounts.Created})
	same(t, []int{2, 2}, []int{len(got.FeatureTypes.Notes), len(got.Features.Notes)})
}

// A context field that is too large does not prevent the import of the rest.
func TestLargeField(t *testing.T) {
	t.Parallel()
	s, field, text := newStage(t), transfer.ContextField{Name: "field"}, strings.Repeat("x", 500)
	for n := range 1000 {
		field.LegalValues = append(field.LegalValues, transfer.LegalValue{fmt.Sprint(n), &text})
	}
	for _, dryRun := range []bool{true, false} {
		r := s.run(t, transfer.Document{
			ContextFields: []transfer.ContextField{field},
			Features: []toggle.FeatureJSON{
				{Name: "toggle", Project: "default", Type: "release", ContextFields: []string{"field"}},
			},
		}, transfer.Options{DryRun: dryRun})
		same(t, []string{"toggle"}, r.Features.Created)
		same(t, []transfer.Remark{{"field", "the context field must not be larger than 409600 bytes; its size is 524980 bytes: shorten or delete legal values"}},
			r.ContextFields.Skipped)
	}
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
	same(t, []int{2, 2, 3}, []int{r.FeatureTypes.Unchanged, r.ContextFields.Unchanged,
		len(r.Features.Created) + r.Features.Unchanged})
}

func TestProject(t *testing.T) {
	t.Parallel()
	s, d := newStage(t), document(t, "document.json")
	d.Features[0].ContextFields = []string{"plan"}
	d.Segments = append(d.Segments, transfer.Segment{ID: 9, Name: "unused", Constraints: []toggle.Constraint{}})
	d.Features[0].Environments = map[string]toggle.Environment{"staging": {
		Strategies: []toggle.Strategy{{Name: "default", Segments: []int64{5}}},
	}}
	d.Projects[1].Description, d.Projects[1].Mode = nil, access.Open
	same(t, transfer.Report{
		FeatureTypes:  transfer.Section{Created: []string{"sunset"}},
		Projects:      transfer.Section{Created: []string{"shop"}},
		ContextFields: transfer.Section{Created: []string{"plan"}},
		Segments:      transfer.Section{Created: []string{"Beta testers"}},
		Environments:  transfer.Section{Created: []string{"development", "staging"}}, // every project has all of them
		Features:      transfer.Section{Created: []string{"full"}},
	}, s.run(t, d, transfer.Options{Project: "shop"}))
}

// What belongs to a project that does not exist is skipped, and an import of only such a project is an error. With
// CreateProjects, those that toggles name are created.
func TestUnknownProject(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	d := transfer.Document{
		Segments: []transfer.Segment{{ID: 1, Name: "Beta", Project: new("other"), Constraints: []toggle.Constraint{}}},
		Features: []toggle.FeatureJSON{{Name: "a", Project: "shop", Type: "release"}},
	}
	o := transfer.Options{Progress: func(string, int, int) {}}
	unknown := func(id string) string {
		return fmt.Sprintf("the project %q does not exist here: create it, or use --create-projects", id)
	}
	r, err := s.Import(t.Context(), d, o)
	assert.OK(t, err)
	same(t, []transfer.Remark{{"Beta", unknown("other")}}, r.Segments.Skipped)
	same(t, []transfer.Remark{{"a", unknown("shop")}}, r.Features.Skipped)
	for project, want := range map[string]string{
		"shop": "there is no project \"shop\": create it with `toggleadmin projects create`, or use --create-projects",
		"none": `there is no project "none" in what is imported`,
	} {
		o.Project = project
		_, err = s.Import(t.Context(), d, o)
		if exitstatus.Of(err) != exitstatus.NotFound || err.Error() != want {
			t.Error(err)
		}
	}
	o.Project, o.CreateProjects = "shop", true
	r, err = s.Import(t.Context(), d, o)
	assert.OK(t, err)
	same(t, []string{"shop"}, r.Projects.Created)
	same(t, []string{"a"}, r.Features.Created)
}

func TestParse(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ document, err string }{
		{`{"format":"toggleadmin","version":2}`, "version 2"},
		{`{"features":[]}`, "it is not an export of toggleadmin"},
		{"{", "it is not JSON"},
		{"[]", `the value at "" cannot be of the type array`},
		{`{"format":"toggleadmin","version":"1"}`, `the value at "/version" cannot be of the type string`},
		{
			`{"format":"toggleadmin","version":1,"features":[{"name":1}]}`,
			`the value at "/features/0/name" cannot be of the type number`,
		},
		{
			`{"format":"toggleadmin","version":1,"contextFields":[{"name":"plan","legalvalues":[]}]}`,
			"/contextFields/0/legalvalues",
		},
	} {
		if _, err := transfer.Parse([]byte(test.document)); err == nil || !strings.Contains(err.Error(), test.err) {
			t.Errorf("%s: %v", test, err)
		}
	}
}
