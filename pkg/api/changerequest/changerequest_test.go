package changerequest_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/api/changerequest"
	"toggleadmin/pkg/api/environment"
	"toggleadmin/pkg/api/playground"
	"toggleadmin/pkg/api/segment"
	"toggleadmin/pkg/api/segmenttable"
	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/consistency"
	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/pkg/platform/lambdahttp"
	"toggleadmin/pkg/toggle"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/operation"
	"toggleadmin/test/helper/toggles"
)

// fixture has the toggles f and g of the project payments and h of shop, in which production needs one approval.
type fixture struct {
	toggles.Fixture
	store *changerequest.Store
}

// The accounts of the fixture: an author and another Member, two Owners, and somebody without a role.
const (
	amy = 1 + iota
	ben
	owner
	other
	guest
	robot // a service account, which is an Owner
	root  // an Admin
)

func newFixture(t *testing.T) fixture {
	t.Helper()
	db := toggles.NewFixture(t)
	ctx := t.Context()
	for _, name := range []string{"development", "production"} {
		_, err := environment.NewStore(db.Client, db.Tables, db.Log()).Create(ctx,
			environment.Environment{Name: name, Type: name, Last: true})
		assert.OK(t, err)
	}
	users := user.NewStore(db.Client, db.Tables, db.Log())
	for _, name := range []string{"amy", "ben", "owner", "other", "guest"} {
		_, err := users.Add(ctx, user.User{Kind: user.Person, Name: name, Email: name + "@example.com", Role: access.RoleViewer}, 0)
		assert.OK(t, err)
	}
	_, err := users.Add(ctx, user.User{Kind: user.ServiceAccount, Name: "robot", Username: "robot", Role: access.RoleViewer}, 9)
	assert.OK(t, err)
	_, err = users.Add(ctx, user.User{Kind: user.Person, Name: "root", Email: "root@example.com", Role: access.RoleAdmin}, 0)
	assert.OK(t, err)
	f := fixture{Fixture: db}
	f.protect(t, "payments", nil)
	f.protect(t, "shop", nil)
	db.Create(t, `{"project":"payments"}`, `{"project":"payments","name":"g"}`, `{"project":"shop","name":"h"}`)
	f.store = f.storeOn(db.Client)
	return f
}

// protect writes a project in which production needs one approval, and the accounts have their roles.
func (f fixture) protect(t *testing.T, id string, change func(*access.Project)) {
	t.Helper()
	p := access.NewProject(id, id)
	p.Mode = access.Protected
	p.Users = map[int64][]access.Role{amy: {access.RoleMember}, ben: {access.RoleMember}, owner: {access.RoleOwner},
		other: {access.RoleOwner}, robot: {access.RoleOwner}}
	p.Protections = map[string]access.Protection{"production": {ChangeRequests: true, RequiredApprovals: 1}}
	if change != nil {
		change(&p)
	}
	f.PutProjects(t, p)
}

func (f fixture) storeOn(client *dynamodb.Client) *changerequest.Store {
	n := 0
	return changerequest.NewStore(client, f.Tables, changerequest.Options{
		Log: eventlog.New(client, f.Tables, toggles.Now, 0),
		NewStrategyID: func() string {
			n++
			return fmt.Sprintf("s%d", n)
		},
		GroupsMaxAgeDays: 30,
	})
}

// set returns operations with path parameters.
func (f fixture) set(parameters ...string) operation.Set {
	s, names := f.store, user.NewNames(f.Client, f.Tables)
	return operation.Set{Projects: f.ProjectReader(), Parameters: parameters, Handlers: map[string]lambdahttp.HandlerFunc{
		"create":     changerequest.Create(s, names, toggles.Now),
		"edit":       changerequest.UpdateChange(s, names, toggles.Now),
		"remove":     changerequest.DeleteChange(s),
		"get":        changerequest.Get(s, names),
		"state":      changerequest.SetState(s, names),
		"title":      changerequest.SetTitle(s),
		"comment":    changerequest.AddComment(s),
		"delete":     changerequest.Delete(s),
		"approvers":  changerequest.Approvers(s),
		"ask":        changerequest.SetApprovers(s),
		"list":       changerequest.List(s, names),
		"pending":    changerequest.ListOpen(s, names),
		"scheduled":  changerequest.ListScheduled(s, names),
		"pending of": changerequest.ListOpenOf(s, names),
		"count":      changerequest.Count(s),
		"actionable": changerequest.Actionable(s),
		"reviewers":  changerequest.AvailableReviewers(s),
		"search":     changerequest.Search(s, names),
		"play":       changerequest.Playground(s, playground.NewStore(f.Client, f.Tables), toggles.Now, rand.Reader),
	}}
}

func (f fixture) requests() operation.Set { return f.set("projectId", "id") }

// as returns a context of a request by an account.
func as(ctx context.Context, id int64) context.Context {
	role := access.RoleViewer
	if id == root {
		role = access.RoleAdmin
	}
	p := access.UserPrincipal(id, role)
	p.IsServiceAccount = id == robot
	return access.WithPrincipal(ctx, p)
}

// shown is a response with a request.
type shown struct {
	ID           int64
	Title, State string
	MinApprovals int
	Environments []struct{ Project, Environment string }
	Features     []struct {
		Name, Conflict string
		Changes        []struct {
			ID       int64
			Conflict string
		}
	}
	Segments  []struct{ Name, Conflict string }
	Approvals []struct {
		CreatedBy struct{ Username string }
		StruckOut bool
	}
	Comments []struct{ Text string }
	Schedule struct {
		ScheduledAt, Status string
		ScheduledBy         struct{ Username string }
	}
}

// places returns the places that need approvals.
func (s shown) places() string {
	var all []string
	for _, p := range s.Environments {
		all = append(all, p.Project+"/"+p.Environment)
	}
	return strings.Join(all, " ")
}

// conflicts returns the conflicts of the changes.
func (s shown) conflicts() string {
	var all []string
	for _, f := range s.Features {
		for _, c := range f.Changes {
			all = append(all, c.Conflict)
		}
	}
	for _, c := range s.Segments {
		all = append(all, c.Conflict)
	}
	return strings.TrimSpace(strings.Join(all, " "))
}

// call calls an operation as an account. It returns the status and, unless it is an error, the request.
func (f fixture) call(ctx context.Context, set operation.Set, id int64, name, path, body string) (string, shown) {
	status, _, text := set.Serve(as(ctx, id), operation.Request{Operation: name, Path: path, Body: body})
	var r shown
	if json.Unmarshal([]byte(text), &r) == nil {
		text = r.State
	}
	return strings.TrimSpace(fmt.Sprint(status, " ", text)), r
}

// ask makes a change request for production as an account.
func (f fixture) ask(t *testing.T, id int64, body string) shown {
	t.Helper()
	return f.askIn(t, id, "payments/production", body)
}

func (f fixture) askIn(t *testing.T, id int64, path, body string) shown {
	t.Helper()
	text, r := f.call(t.Context(), f.set("projectId", "environment"), id, "create", path, body)
	if text != "200 Draft" {
		t.Fatalf("create %s: %s", body, text)
	}
	return r
}

// expect asks for states one after the other. Each step is an account, a state, and how the response begins.
func (f fixture) expect(t *testing.T, path string, steps ...string) {
	t.Helper()
	for _, step := range steps {
		text, want, _ := strings.Cut(step, " -> ")
		by, state, _ := strings.Cut(text, " ")
		accounts := map[string]int64{"amy": amy, "ben": ben, "owner": owner, "other": other, "guest": guest, "robot": robot, "root": root}
		got, _ := f.call(t.Context(), f.requests(), accounts[by], "state", path, fmt.Sprintf(`{"state":%q}`, state))
		if !strings.HasPrefix(got, want) {
			t.Errorf("%s: got %s", step, got)
		}
	}
}

const canceled = string(changerequest.Canceled)

const (
	turnOnF     = `{"feature":"f","action":"updateEnabled","payload":{"enabled":true}}`
	addStrategy = `{"feature":"f","action":"addStrategy","payload":{"name":"default"}}`
	archiveF    = `{"feature":"f","action":"archiveFeature"}`

	constrainSegment = `{"action":"updateSegment","payload":{"id":1,"constraints":[` +
		`{"contextName":"a","operator":"IN","values":["1"]}]}}`
)

// A request is asked for, sent, approved by another person, and applied once.
func TestApply(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	assert.Equal(t, 1, f.ask(t, amy, turnOnF).MinApprovals)
	r := f.ask(t, amy, `[`+addStrategy+`,{"feature":"g","action":"archiveFeature"}]`) // the same draft
	assert.Equal(t, int64(1), r.ID)
	f.expect(t, "payments/1",
		"ben In review -> 403",
		"amy Approved -> 403",
		"amy Applied -> 409",
		"amy In review -> 200 In review",
		`amy Applied -> 409 ConflictError: The change request 1 needs 1 more approval in the environment "production" of the `+
			`project "payments".`,
		"ben Approved -> 403",
		"guest Approved -> 403",
		"robot Approved -> 403", // an Owner, but a service account
		"owner Approved -> 200 Approved",
		"owner Approved -> 409",
		"other Approved -> 200 Approved",
		"guest Applied -> 403",
		"robot Applied -> 200 Applied",
		"ben Applied -> 409",
		"amy "+canceled+" -> 409",
	)
	toggle := f.Toggle(t, "f")
	assert.Equal(t, true, toggle.Environments["production"].Enabled)
	assert.Equal(t, 2, len(toggle.Environments["production"].Strategies))
	assert.Equal(t, true, f.Toggle(t, "g").Archived)
	assert.Equal(t, "change-request-created 1 1, change-request-updated 1 1, change-request-sent-to-review 1 1, "+
		"change-request-approved 3 1, change-request-approved 4 1, feature-strategy-add 6 1, feature-strategy-add 6 1, "+
		"feature-environment-enabled 6 1, feature-archived 6 1, feature-potentially-stale-off 6 1, "+
		"change-request-applied 6 1", f.events(t))
}

// events returns the types of all events of requests and of what they did, with the actors and the ids of the requests.
func (f fixture) events(t *testing.T) string {
	t.Helper()
	var all []string
	about := eventlog.Filter{Projects: []string{"payments"}}
	assert.OK(t, eventlog.NewReader(f.Log()).All(t.Context(), about, func(e eventlog.Event) error {
		if e.By.UserID != 0 {
			all = append(all, fmt.Sprint(e.Type, " ", e.By.UserID, " ", e.ChangeRequest))
		}
		return nil
	}))
	return strings.Join(all, ", ")
}

// A change that is not possible is a 400 with its place, as the direct operation would answer, and nothing is stored.
func TestAddChangesChecksEachChange(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for _, test := range []struct{ body, want string }{
		{`{}`, "400 ValidationError: The `/body/action` property is required; you did not send it."},
		{`{"action":"updateEnabled","payload":{"enabled":true}}`,
			"400 ValidationError: The `/body/feature` property is required; you did not send it."},
		{`{"feature":"f","action":"updateEnabled"}`,
			"400 ValidationError: The `/body/payload` property is required; you did not send it."},
		{`{"feature":"f","action":"updateEnabled","payload":{}}`,
			"400 ValidationError: The `/body/payload/enabled` property is required; you did not send it."},
		{`{"feature":"x","action":"archiveFeature"}`, "400 ValidationError: The `/body/feature` property must be the name of a " +
			`toggle of the project "payments"; you sent "x".`},
		{`{"feature":"h","action":"archiveFeature"}`, "400 ValidationError: The `/body/feature` property must be the name of a " +
			`toggle of the project "payments"; you sent "h".`},
		{`{"feature":"f","action":"archiveFeature","payload":{"a":1}}`,
			"400 ValidationError: The `/body/payload` property must not be sent with the action archiveFeature."},
		{`[` + turnOnF + `,{"feature":"f","action":"addStrategy","payload":{"name":"x"}}]`, "400 ValidationError: The " +
			"`/body/1/payload/name` property must be default, flexibleRollout, remoteAddress or applicationHostname; you sent \"x\"."},
		{`[` + turnOnF + `,{"feature":"f","action":"addStrategy","payload":{"name":"default","constraints":[` +
			`{"contextName":"x","operator":"IN","values":["1"]}]}}]`, "400 ValidationError: The " +
			"`/body/1/payload/constraints/0/contextName` property must be the name of a context field; you sent \"x\"."},
		{`{"feature":"f","action":"updateStrategy","payload":{"title":"x"}}`,
			"400 ValidationError: The `/body/payload/id` property is required; you did not send it."},
		{`{"feature":"f","action":"updateStrategy","payload":{"id":"x","title":"x"}}`, "400 ValidationError: The " +
			"`/body/payload/id` property must be the id of a strategy of the toggle in the environment."},
		{`{"feature":"f","action":"deleteStrategy","payload":{"id":7}}`,
			"400 ValidationError: The `/body/payload/id` property must be the id of a strategy; you sent 7."},
		{`{"feature":"f","action":"deleteStrategy","payload":{"id":"x","y":1}}`,
			"400 ValidationError: The `/body/payload` property must have no other property than `id`."},
		{`{"feature":"f","action":"reorderStrategy","payload":[{"id":"x","sortOrder":1}]}`, "400 ValidationError: The " +
			"`/body/payload/0/id` property must be the id of a strategy of the toggle in the environment; you sent \"x\"."},
		{`{"feature":"f","action":"addDependency","payload":{"feature":"x"}}`, "400 ValidationError: The " +
			"`/body/payload/feature` property must be the name of a toggle of the project \"payments\"."},
		{`{"feature":"f","action":"deleteDependency"}`, `409 ConflictError: The toggle "f" depends on no other toggle.`},
		{`{"feature":"f","action":"updateSegment","payload":{"id":1}}`,
			"400 ValidationError: The `/body/feature` property must not be sent with the action updateSegment."},
		{`{"action":"updateSegment","payload":{"id":1,"name":"x"}}`,
			"400 ValidationError: The `/body/payload/id` property must be the id of a segment; you sent 1."},
		{`[` + strings.Repeat(turnOnF+",", 30) + turnOnF + `]`,
			"400 ValidationError: The `/body` must have at most 30 elements; you sent ["},
	} {
		got, _ := f.call(t.Context(), f.set("projectId", "environment"), amy, "create", "payments/production", test.body)
		if !strings.HasPrefix(got, test.want) {
			t.Errorf("%.120s:\n got %s\nwant %s", test.body, got, test.want)
		}
	}
	newSegment(t, f)
	after := `[{"action":"deleteSegment","payload":{"id":1}},{"action":"updateSegment","payload":{"id":1,"name":"x"}}]`
	got, _ := f.call(t.Context(), f.set("projectId", "environment"), amy, "create", "payments/production", after)
	assert.Equal(t, "400 ValidationError: The `/body/1/payload/id` property must be the id of a segment; you sent 1.", got)
	for path, want := range map[string]string{
		"payments/x":   `404 NotFoundError: There is no environment with the name "x".`,
		"x/production": `404 NotFoundError: There is no project with the id "x".`,
	} {
		got, _ := f.call(t.Context(), f.set("projectId", "environment"), amy, "create", path, turnOnF)
		assert.Equal(t, want, got)
	}
	assert.Equal(t, "", f.events(t))
}

// What has changed since a change was added, so that its result would be another one, is a conflict.
func TestConflicts(t *testing.T) {
	t.Parallel()
	const strategy = `{"environments":{"production":{"strategies":[{"id":"a","name":"default"},{"id":"b","name":"default",` +
		`"sortOrder":1}]}}}`
	changed := func(action string) string {
		return fmt.Sprintf("What the change %s of the toggle %q depends on has changed since it was added.", action, "f")
	}
	gone := `There is no toggle with the name "f" in the project "payments".`
	for _, test := range []struct{ name, change, direct, want string }{
		{"turned on", turnOnF, `{"environments":{"production":{"enabled":true,"strategies":[{"id":"a","name":"default"}]}}}`,
			changed("updateEnabled")},
		{"turned on with others in development", turnOnF, `{"description":"x"}`, ""},
		{"edited", `{"feature":"f","action":"updateStrategy","payload":{"id":"a","title":"x"}}`,
			`{"environments":{"production":{"strategies":[{"id":"a","name":"default","disabled":true}]}}}`, changed("updateStrategy")},
		{"another one edited", `{"feature":"f","action":"updateStrategy","payload":{"id":"a","title":"x"}}`,
			`{"environments":{"production":{"strategies":[{"id":"a","name":"default"},{"id":"b","name":"default","disabled":true,` +
				`"sortOrder":1}]}}}`, ""},
		{"deleted", `{"feature":"f","action":"deleteStrategy","payload":{"id":"a"}}`,
			`{"environments":{"production":{"strategies":[{"id":"b","name":"default","sortOrder":1}]}}}`, changed("deleteStrategy")},
		{"ordered", `{"feature":"f","action":"reorderStrategy","payload":[{"id":"a","sortOrder":5}]}`,
			`{"environments":{"production":{"strategies":[{"id":"a","name":"default","sortOrder":2},` +
				`{"id":"b","name":"default","sortOrder":1}]}}}`, changed("reorderStrategy")},
		{"archived", addStrategy, `{"archived":true}`, changed("addStrategy")},
		{"moved", addStrategy, `{"project":"shop"}`, gone},
		{"depends", `{"feature":"f","action":"addDependency","payload":{"feature":"g"}}`, `{"dependency":{"feature":"k","enabled":true}}`,
			changed("addDependency")},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			f.Update(t, "f", strategy)
			f.Create(t, `{"project":"payments","name":"k"}`)
			assert.Equal(t, "", f.ask(t, amy, test.change).conflicts())
			f.Update(t, "f", test.direct)
			_, r := f.call(t.Context(), f.requests(), ben, "get", "payments/1", "")
			assert.Equal(t, test.want, r.conflicts())
			applied := "ben Applied -> 200 Applied"
			if test.want != "" {
				applied = "ben Applied -> 409 ConflictError: The change request 1 has conflicts: " + test.want
			}
			f.expect(t, "payments/1", "amy In review -> 200", "owner Approved -> 200", applied)
		})
	}
}

// newSegment creates the segment 1.
func newSegment(t *testing.T, f fixture) *segment.Store {
	t.Helper()
	segments := segment.NewStore(f.Client, f.Tables, f.Log())
	_, err := segments.Create(t.Context(), segment.Segment{Segment: segmenttable.Segment{Segment: toggle.Segment{Name: "s"}}})
	assert.OK(t, err)
	return segments
}

// A segment whose constraints have changed, or that was deleted, is a conflict.
func TestConflictsOfSegments(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ change, want string }{
		{`{"action":"updateSegment","payload":{"id":1,"constraints":[]}}`, "The segment 1 has changed since the change was added."},
		{`{"action":"deleteSegment","payload":{"id":1}}`, "The segment 1 has changed since the change was added."},
		{`{"feature":"f","action":"addStrategy","payload":{"name":"default","segments":[1]}}`,
			`What the change addStrategy of the toggle "f" depends on has changed since it was added.`},
		{`{"feature":"f","action":"updateStrategy","payload":{"id":"a","title":"x"}}`, // which keeps the segment
			`What the change updateStrategy of the toggle "f" depends on has changed since it was added.`},
		{`{"feature":"f","action":"updateStrategy","payload":{"id":"a","segments":[]}}`, ""},
	} {
		f := newFixture(t)
		segments := newSegment(t, f)
		if strings.Contains(test.change, `"updateStrategy"`) {
			f.Update(t, "f", `{"environments":{"production":{"strategies":[{"id":"a","name":"default","segments":[1]}]}}}`)
		}
		assert.Equal(t, "", f.ask(t, amy, test.change).conflicts())
		f.expect(t, "payments/1", "amy In review -> 200", "owner Approved -> 200")
		assert.OK(t, segments.Update(t.Context(), 1, func(s *segment.Segment) error {
			s.Constraints = []toggle.Constraint{{ContextName: "a", Operator: toggle.OperatorIn, Values: []string{"1"}}}
			return nil
		}))
		_, r := f.call(t.Context(), f.requests(), ben, "get", "payments/1", "")
		assert.Equal(t, test.want, r.conflicts())
		applied := "ben Applied -> 200"
		if test.want != "" {
			applied = "ben Applied -> 409"
		}
		f.expect(t, "payments/1", applied)
	}
}

// A change needs the approvals of every protected environment in which it acts, by people who may approve there.
func TestApprovalsWhereChangesAct(t *testing.T) {
	t.Parallel()
	const on = `{"environments":{"production":{"enabled":true,"strategies":[{"id":"a","name":"default","segments":[1]}]},` +
		`"development":{"enabled":true,"strategies":[{"id":"b","name":"default"}]}}}`
	f := newFixture(t)
	segments := segment.NewStore(f.Client, f.Tables, f.Log())
	_, err := segments.Create(t.Context(), segment.Segment{Segment: segmenttable.Segment{Segment: toggle.Segment{Name: "s"}}})
	assert.OK(t, err)
	for _, name := range []string{"f", "h"} {
		f.Update(t, name, on)
	}
	// Archiving f changes production, also if the request is for development, which is not protected.
	r := f.askIn(t, amy, "payments/development", archiveF)
	assert.Equal(t, "payments/production", r.places())
	f.expect(t, "payments/1", "amy In review -> 200 In review", "amy Applied -> 409", "owner Approved -> 200 Approved",
		"ben Applied -> 200 Applied")
	// The segment is used in production of shop, too.
	r = f.askIn(t, amy, "payments/development",
		`{"action":"updateSegment","payload":{"id":1,"constraints":[{"contextName":"a","operator":"IN","values":["1"]}]}}`)
	assert.Equal(t, "shop/production", r.places()) // f is archived
	f.protect(t, "shop", func(p *access.Project) { p.Users = map[int64][]access.Role{other: {access.RoleOwner}} })
	f.expect(t, "payments/2", "amy In review -> 200 In review", "owner Approved -> 403", "other Approved -> 200 Approved",
		"ben Applied -> 200 Applied")
	s, err := segments.Get(t.Context(), 1)
	assert.OK(t, err)
	assert.Equal(t, 1, len(s.Constraints))
}

// A private project is not named to who does not see it, and its segments cannot be used.
func TestHiddenProject(t *testing.T) {
	t.Parallel()
	const on = `{"environments":{"production":{"enabled":true,"strategies":[{"id":"a","name":"default","segments":[1]}]}}}`
	f := newFixture(t)
	segments := segment.NewStore(f.Client, f.Tables, f.Log())
	for name, project := range map[string]*string{"shared": nil, "hidden": new("shop")} {
		_, err := segments.Create(t.Context(), segment.Segment{
			Segment: segmenttable.Segment{Segment: toggle.Segment{Name: name}, Project: project},
		})
		assert.OK(t, err)
	}
	all, err := segments.List(t.Context())
	assert.OK(t, err)
	ids := map[string]int64{}
	for _, s := range all {
		ids[s.Name] = s.ID
	}
	f.Update(t, "h", strings.ReplaceAll(on, "[1]", fmt.Sprintf("[%d]", ids["shared"])))
	f.protect(t, "shop", func(p *access.Project) {
		p.Mode, p.Users = access.Private, map[int64][]access.Role{other: {access.RoleOwner}}
	})
	update := fmt.Sprintf(`{"action":"updateSegment","payload":{"id":%d,"constraints":[`+
		`{"contextName":"a","operator":"IN","values":["1"]}]}}`, ids["shared"])
	r := f.askIn(t, amy, "payments/development", update)
	assert.Equal(t, "", r.places())
	f.expect(t, "payments/1", "amy In review -> 200 In review",
		`amy Applied -> 409 ConflictError: The change request 1 needs 1 more approval in the environment "production" of another project.`)
	_, r = f.call(t.Context(), f.requests(), other, "get", "payments/1", "")
	assert.Equal(t, "shop/production", r.places())

	text, _ := f.call(t.Context(), f.set("projectId", "environment"), amy, "create", "payments/development",
		fmt.Sprintf(`{"feature":"f","action":"addStrategy","payload":{"name":"default","segments":[%d]}}`, ids["hidden"]))
	assert.Equal(t, fmt.Sprintf("400 ValidationError: The `/body/payload/segments` property must have the ids of segments; "+
		"there is no segment with the id %d.", ids["hidden"]), text)
}

// A person who may approve no more, or whose account is disabled, has not approved when the request is to be applied.
func TestApproverLosesRight(t *testing.T) {
	t.Parallel()
	for _, lose := range []func(*testing.T, fixture){
		func(t *testing.T, f fixture) {
			t.Helper()
			f.protect(t, "payments", func(p *access.Project) { p.Users[owner] = []access.Role{access.RoleMember} })
		},
		func(t *testing.T, f fixture) {
			t.Helper()
			assert.OK(t, user.NewStore(f.Client, f.Tables, f.Log()).SetDisabled(t.Context(), owner, true, false))
		},
	} {
		f := newFixture(t)
		f.ask(t, amy, turnOnF)
		f.expect(t, "payments/1", "amy In review -> 200", "owner Approved -> 200 Approved")
		lose(t, f)
		f.expect(t, "payments/1", "ben Applied -> 409 ConflictError: The change request 1 needs 1 more approval")
		_, r := f.call(t.Context(), f.requests(), ben, "get", "payments/1", "")
		assert.Equal(t, "In review", r.State)
		assert.Equal(t, true, r.Approvals[0].StruckOut)
		assert.Equal(t, false, f.Toggle(t, "f").Environments["production"].Enabled)
		f.expect(t, "payments/1", "other Approved -> 200 Approved", "ben Applied -> 200 Applied")
	}
}

// Where no approvals are needed, a request is applied with the permissions of its operations.
func TestWithoutApprovals(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.askIn(t, amy, "payments/development", turnOnF)
	f.expect(t, "payments/1", "amy In review -> 200 Approved", "guest Applied -> 403", "amy Applied -> 200 Applied")
	assert.Equal(t, "[development]", fmt.Sprint(f.Toggle(t, "f").EnabledEnvironments()))
}

// A request for an environment that the project does not have any more is not applied, and there are no new ones.
func TestEnvironmentThatTheProjectLacks(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.askIn(t, amy, "payments/development", addStrategy)
	f.expect(t, "payments/1", "amy In review -> 200 Approved")
	f.protect(t, "payments", func(p *access.Project) { p.Environments = []string{"production"} })
	const lacks = `The project "payments" has no environment with the name "development".`
	f.expect(t, "payments/1", "amy Applied -> 409 ConflictError: The change request 1 has conflicts: "+lacks)
	text, _ := f.call(t.Context(), f.set("projectId", "environment"), amy, "create", "payments/development", addStrategy)
	assert.Equal(t, "404 NotFoundError: "+lacks, text)
}

// A frozen environment does not change, also if the request is approved.
func TestFrozen(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.ask(t, amy, turnOnF)
	f.expect(t, "payments/1", "amy In review -> 200", "owner Approved -> 200")
	f.protect(t, "payments", func(p *access.Project) {
		p.Protections = map[string]access.Protection{"production": {ChangeRequests: true, RequiredApprovals: 1,
			Freeze: &access.Freeze{From: toggles.Created(), Until: toggles.Now().AddDate(0, 0, 1), Reason: "sale"}}}
	})
	f.expect(t, "payments/1", "ben Applied -> 403 NoAccessError: The environment \"production\" of the project \"payments\" is frozen")
	f.ask(t, ben, turnOnF) // asking is possible
	f.expect(t, "payments/1", "root Applied -> 200 Applied")
}

// A request that was changed loses its approvals, and whoever changed it is an author.
func TestChangeOfApproved(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.ask(t, amy, "["+turnOnF+","+addStrategy+"]")
	f.expect(t, "payments/1", "amy In review -> 200", "owner Approved -> 200 Approved")
	changes := f.set("projectId", "id", "changeId")
	edit := func(id int64, name, path, body string) string {
		got, _ := f.call(t.Context(), changes, id, name, path, body)
		return got
	}
	assert.Equal(t, true, strings.HasPrefix(edit(ben, "edit", "payments/1/1", archiveF), "403"))
	assert.Equal(t, "200 In review", edit(root, "edit", "payments/1/1", archiveF))
	f.expect(t, "payments/1", "root Approved -> 403", "other Approved -> 200 Approved")
	assert.Equal(t, "200", edit(amy, "remove", "payments/1/2", ""))
	assert.Equal(t, "409 ConflictError: The change request 1 would have no changes. Cancel it instead.",
		edit(amy, "remove", "payments/1/1", ""))
	assert.Equal(t, "404 NotFoundError: The change request 1 has no change with the id 2.", edit(amy, "remove", "payments/1/2", ""))
	f.expect(t, "payments/1", "ben Applied -> 409", "owner Approved -> 200", "ben Applied -> 200 Applied")
	assert.Equal(t, true, f.Toggle(t, "f").Archived)
	assert.Equal(t, 0, len(f.Toggle(t, "f").Environments))
	// Changes that are added while the request is in review are a new draft.
	f.ask(t, amy, `{"feature":"g","action":"archiveFeature"}`)
	f.expect(t, "payments/2", "amy In review -> 200")
	assert.Equal(t, int64(3), f.ask(t, amy, `{"feature":"g","action":"archiveFeature"}`).ID)
}

// What is approved is what was read.
func TestStateIfMatch(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.ask(t, amy, turnOnF)
	f.expect(t, "payments/1", "amy In review -> 200")
	read := func() string {
		_, header, _ := f.requests().Serve(as(t.Context(), owner), operation.Request{Operation: "get", Path: "payments/1"})
		return header.Get("ETag")
	}
	tag := read()
	f.requests().ExpectStatus(as(t.Context(), ben), t, "comment", "payments/1", `{"text":"Why?"}`, 204)
	assert.Equal(t, tag, read())
	got, _ := f.call(t.Context(), f.set("projectId", "id", "changeId"), amy, "edit", "payments/1/1", archiveF)
	assert.Equal(t, "200 In review", got)
	approve := func(tag string) int {
		status, _, _ := f.requests().With("If-Match", tag).Serve(as(t.Context(), owner),
			operation.Request{Operation: "state", Path: "payments/1", Body: `{"state":"Approved"}`})
		return status
	}
	assert.Equal(t, 412, approve(tag))
	assert.Equal(t, 200, approve(read()))
}

// A request that another process applies at the same time is applied once.
func TestApplyConcurrently(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.ask(t, amy, addStrategy)
	f.expect(t, "payments/1", "amy In review -> 200", "owner Approved -> 200")
	first := f
	f.store = f.storeOn(f.Before(t, "TransactWriteItems", 1, func() { first.expect(t, "payments/1", "ben Applied -> 200 Applied") }))
	f.expect(t, "payments/1", "ben Applied -> 409")
	assert.Equal(t, 1, len(f.Toggle(t, "f").Environments["production"].Strategies))
}

// What changes between the reads that decide about a request and its write is a conflict, too.
func TestChangedWhileApplied(t *testing.T) {
	t.Parallel()
	editStrategy := func(t *testing.T, f fixture, _ *segment.Store) {
		t.Helper()
		f.Update(t, "f", `{"environments":{"production":{"strategies":[{"id":"a","name":"default","disabled":true}]}}}`)
	}
	editSegment := func(t *testing.T, _ fixture, segments *segment.Store) {
		t.Helper()
		assert.OK(t, segments.Update(t.Context(), 1, func(s *segment.Segment) error {
			s.Name = "y"
			return nil
		}))
	}
	for change, edit := range map[string]func(*testing.T, fixture, *segment.Store){
		`{"feature":"f","action":"updateStrategy","payload":{"id":"a","title":"x"}}`: editStrategy,
		`{"action":"updateSegment","payload":{"id":1,"name":"x"}}`:                   editSegment,
		`{"action":"deleteSegment","payload":{"id":1}}`:                              editSegment,
	} {
		for _, read := range []int{2, 3} { // of the environments, and of the people who have approved
			f := newFixture(t)
			f.Update(t, "f", `{"environments":{"production":{"strategies":[{"id":"a","name":"default"}]}}}`)
			segments := newSegment(t, f)
			f.ask(t, amy, change)
			f.expect(t, "payments/1", "amy In review -> 200", "owner Approved -> 200")
			before := f
			f.store = f.storeOn(f.Before(t, "BatchGetItem", read, func() { edit(t, before, segments) }))
			f.expect(t, "payments/1", "ben Applied -> 409 ConflictError: The change request 1 has conflicts")
		}
	}
}

// Changes that were possible in one transaction when the request was made can need several transactions later.
func TestTransactionBecomesImpossible(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	newSegment(t, f)
	f.ask(t, amy, "["+archiveF+","+constrainSegment+"]")
	f.expect(t, "payments/1", "amy In review -> 200", "owner Approved -> 200")
	f.Update(t, "f", `{"environments":{"production":{"strategies":[{"id":"a","name":"default","segments":[1]}]}}}`)
	f.expect(t, "payments/1", "ben Applied -> 409 ConflictError: Changes of segments, and of strategies or segments that use "+
		"the same segment or context field, cannot be made in one transaction. Make several change requests.")
}

// A request that needs more actions than a transaction has is refused when it is made.
func TestTooManyActions(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	var changes []string
	for i := range 30 {
		name := fmt.Sprintf("t%02d", i)
		f.Create(t, fmt.Sprintf(`{"project":"payments","name":%q,"environments":{"production":{"strategies":[`+
			`{"id":"a%[1]s","name":"default","disabled":true},{"id":"b%[1]s","name":"default","disabled":true}]}}}`, name))
		changes = append(changes, fmt.Sprintf(`{"feature":%q,"action":"updateEnabled",`+
			`"payload":{"enabled":true,"shouldActivateDisabledStrategies":true}}`, name))
	}
	set := f.set("projectId", "environment")
	got, _ := f.call(t.Context(), set, amy, "create", "payments/production", "["+strings.Join(changes, ",")+"]")
	assert.Equal(t, true, strings.HasPrefix(got, "400 ValidationError: The change request is too large for one transaction"))
	f.ask(t, amy, "["+strings.Join(changes[:20], ",")+"]")
	f.expect(t, "payments/1", "amy In review -> 200", "owner Approved -> 200", "ben Applied -> 200 Applied")
}

// A request is scheduled for a time, for another one, and taken back. A changed one loses its schedule.
func TestSchedule(t *testing.T) {
	t.Parallel()
	const nine, ten = "2026-12-31T09:00:00.000Z", "2026-12-31T10:00:00.000Z"
	f := newFixture(t)
	f.ask(t, amy, turnOnF)
	f.expect(t, "payments/1", "amy In review -> 200", "owner Approved -> 200")
	schedule := func(id int64, body string) (string, shown) {
		return f.call(t.Context(), f.requests(), id, "state", "payments/1", body)
	}
	for body, want := range map[string]string{
		`{"state":"Scheduled"}`: "400 ValidationError: The `/body/scheduledAt` property is required; you did not send it.",
		`{"state":"Scheduled","scheduledAt":"2026-12-30T05:39:00Z"}`: "400 ValidationError: The `/body/scheduledAt` property " +
			`must be in the future; you sent "2026-12-30T05:39:00Z".`,
		`{"state":"Scheduled","scheduledAt":"2027-12-31T05:39:00Z"}`: "400 ValidationError: The `/body/scheduledAt` property " +
			`must be at most a year after now; you sent "2027-12-31T05:39:00Z".`,
		`{"state":"Applied","scheduledAt":"` + nine + `"}`: "400 ValidationError: The `/body/scheduledAt` property must not be " +
			`sent with the state "Applied".`,
	} {
		got, _ := schedule(ben, body)
		assert.Equal(t, want, got)
	}
	got, _ := schedule(guest, `{"state":"Scheduled","scheduledAt":"`+nine+`"}`)
	assert.Equal(t, true, strings.HasPrefix(got, "403"))
	list := func() string {
		_, _, text := f.requests().Serve(as(t.Context(), amy), operation.Request{Operation: "scheduled", Path: "payments"})
		var all []shown
		assert.OK(t, json.Unmarshal([]byte(text), &all))
		text = ""
		for _, r := range all {
			text += fmt.Sprintln(r.ID, r.Schedule.ScheduledAt, r.Schedule.ScheduledBy.Username, r.Schedule.Status)
		}
		return text
	}
	for _, at := range []string{nine, ten} {
		got, r := schedule(ben, `{"state":"Scheduled","scheduledAt":"`+at+`"}`)
		assert.Equal(t, "200 Scheduled", got)
		assert.Equal(t, at, r.Schedule.ScheduledAt)
	}
	assert.Equal(t, "1 "+ten+" ben pending\n", list())
	f.expect(t, "payments/1", "amy Approved -> 200 Approved")
	assert.Equal(t, "", list())
	_, _ = schedule(ben, `{"state":"Scheduled","scheduledAt":"`+nine+`"}`)
	got, _ = f.call(t.Context(), f.set("projectId", "id", "changeId"), amy, "edit", "payments/1/1", archiveF)
	assert.Equal(t, "200 In review", got)
	assert.Equal(t, "", list())
	due, err := f.store.Due(t.Context())
	assert.OK(t, err)
	assert.Equal(t, 0, len(due))
	assert.Equal(t, "change-request-created 1 1, change-request-sent-to-review 1 1, change-request-approved 3 1, "+
		"change-request-scheduled 2 1, change-request-scheduled 2 1, change-request-updated 1 1, "+
		"change-request-scheduled 2 1, change-request-updated 1 1", f.events(t))
}

// The playground evaluates the toggles of a request before and after its changes.
func TestPlayground(t *testing.T) {
	t.Parallel()
	const on = `{"environments":{"production":{"enabled":true,"strategies":[{"id":"a","name":"default","segments":[1]}]}}}`
	f := newFixture(t)
	_, err := segment.NewStore(f.Client, f.Tables, f.Log()).Create(t.Context(),
		segment.Segment{Segment: segmenttable.Segment{Segment: toggle.Segment{Name: "s"}}})
	assert.OK(t, err)
	for _, name := range []string{"f", "h"} {
		f.Update(t, name, on)
	}
	play := func(id int64, request int64, context string) string {
		status, _, text := f.set("id").Serve(as(t.Context(), id), operation.Request{Operation: "play",
			Path: fmt.Sprint(request), Body: `{"context":` + context + `}`})
		var got struct {
			Features []struct {
				Name         string
				Environments map[string][]struct{ IsEnabled bool }
			}
		}
		if status != 200 {
			return text
		}
		assert.OK(t, json.Unmarshal([]byte(text), &got))
		var all []string
		for _, one := range got.Features {
			for _, name := range slices.Sorted(maps.Keys(one.Environments)) {
				all = append(all, fmt.Sprint(one.Name, " ", name, " ", one.Environments[name]))
			}
		}
		return strings.Join(all, ", ")
	}
	f.ask(t, amy, `[`+addStrategy+`,{"feature":"g","action":"updateEnabled","payload":{"enabled":true}}]`)
	assert.Equal(t, "f production [{true} {true}], g production [{false} {true}]", play(ben, 1, `{}`))
	f.askIn(t, amy, "payments/development", archiveF)
	assert.Equal(t, "f development [{false} {false}], f production [{true} {false}]", play(ben, 2, `{}`))
	f.ask(t, ben, `{"action":"updateSegment","payload":{"id":1,"constraints":[`+
		`{"contextName":"userId","operator":"IN","values":["7"]}]}}`)
	assert.Equal(t, "f production [{true} {true}], h production [{true} {true}]", play(ben, 3, `{"userId":"7"}`))
	assert.Equal(t, "f production [{true} {false}], h production [{true} {false}]", play(ben, 3, `{"userId":"8"}`))
	// A toggle of a project that the caller does not see is left out, and a request of it is not found.
	f.protect(t, "shop", func(p *access.Project) { p.Mode, p.Users = access.Private, nil })
	assert.Equal(t, "f production [{true} {false}]", play(ben, 3, `{"userId":"8"}`))
	f.protect(t, "payments", func(p *access.Project) { p.Mode = access.Private })
	assert.Equal(t, `NotFoundError: There is no change request with the id "3".`, play(guest, 3, `{}`))
	assert.Equal(t, `NotFoundError: There is no change request with the id "9".`, play(ben, 9, `{}`))
	// A change with a conflict is not made.
	f.Update(t, "g", `{"environments":{"production":{"strategies":[{"id":"a","name":"default"}]}}}`)
	assert.Equal(t, "f production [{true} {true}], g production [{false} {false}]", play(ben, 1, `{}`))
}

// Lists are newest first. Filters, pages and numbers agree, and a private project is not among them.
func TestLists(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for _, id := range []int64{amy, ben, robot} {
		f.ask(t, id, turnOnF)
	}
	f.askIn(t, amy, "shop/production", `{"feature":"h","action":"archiveFeature"}`)
	f.expect(t, "payments/1", "amy In review -> 200")
	f.expect(t, "payments/2", "ben In review -> 200", "owner Rejected -> 200")
	f.requests().ExpectStatus(as(t.Context(), amy), t, "ask", "payments/1", `{"reviewers":[4,3,4]}`, 204)
	list := func(name, path, query string) string {
		_, _, text := f.set("projectId", "featureName").Serve(as(t.Context(), owner),
			operation.Request{Operation: name, Path: path, Query: query})
		var all []struct{ ID int64 }
		var found struct {
			ChangeRequests []struct{ ID int64 }
			Total          int
		}
		if json.Unmarshal([]byte(text), &all) != nil && json.Unmarshal([]byte(text), &found) == nil {
			return fmt.Sprint(found.ChangeRequests, " of ", found.Total)
		}
		return fmt.Sprint(all)
	}
	for _, test := range []struct{ name, path, query, want string }{
		{"list", "payments", "", "[{3} {2} {1}]"},
		{"list", "payments", "limit=1&offset=1", "[{2}]"},
		{"list", "payments", "state=IS:Rejected", "[{2}]"},
		{"list", "payments", "state=IS_ANY_OF:In review,Draft", "[{3} {1}]"},
		{"list", "payments", "createdBy=IS:1", "[{1}]"},
		{"list", "payments", "requestedApproverId=IS:4", "[{1}]"},
		{"pending", "payments", "", "[{3} {1}]"},
		{"pending of", "payments/f", "", "[{3} {1}]"},
		{"pending of", "payments/g", "", "[]"},
		{"search", "payments", "", "[{4} {3} {2} {1}] of 4"},
		{"search", "payments", "limit=2&offset=1", "[{3} {2}] of 4"},
		{"search", "payments", "createdBy=IS:1&limit=1", "[{4}] of 2"},
		{"search", "payments", "createdBy=IS:1&offset=1", "[{1}] of 2"},
		{"search", "payments", "createdBy=IS:1&project=IS:shop", "[{4}] of 1"},
		{"search", "payments", "createdBy=IS:2&state=IS:Rejected", "[{2}] of 1"},
		{"search", "payments", "createdBy=IS:2&state=IS:Applied", "[] of 0"},
		{"search", "payments", "createdBy=IS:1&state=IS:In review", "[{1}] of 1"},
		{"search", "payments", "createdBy=IS:1&requestedApproverId=IS:4", "[{1}] of 1"},
		{"search", "payments", "state=IS:Draft", "[{4} {3}] of 2"},
		{"search", "payments", "project=IS:payments&limit=2", "[{3} {2}] of 3"},
		{"search", "payments", "project=IS:none", "[] of 0"},
		{"search", "payments", "actionable=IS:true", "[{1}] of 1"},
		{"search", "payments", "actionable=IS:true&state=IS:Approved", "[] of 0"},
		{"list", "payments", "actionable=IS:true", "[{1}]"},
	} {
		assert.Equal(t, test.want, list(test.name, test.path, test.query))
	}
	f.requests().Expect(as(t.Context(), ben), t, "count", "payments", "",
		`200 {"total":3,"applied":0,"rejected":1,"reviewRequired":1,"approved":0,"scheduled":0}`)
	f.requests().Expect(as(t.Context(), owner), t, "actionable", "payments", "", `200 {"total":1}`)
	f.requests().Expect(as(t.Context(), amy), t, "actionable", "payments", "", `200 {"total":0}`)
	f.protect(t, "shop", func(p *access.Project) { p.Mode, p.Users = access.Private, nil })
	assert.Equal(t, "[{3} {2} {1}] of 3", list("search", "payments", ""))
	assert.Equal(t, "[] of 0", list("search", "payments", "project=IS:shop"))
}

// People who may approve can be asked, and nobody else.
func TestReviewers(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.ask(t, amy, turnOnF)
	const owners = `{"id":3,"name":"owner","email":"owner@example.com"},{"id":4,"name":"other","email":"other@example.com"}`
	f.set("projectId", "environment").Expect(as(t.Context(), amy), t, "reviewers", "payments/production", "",
		`200 {"reviewers":[`+owners+`,{"id":7,"name":"root","email":"root@example.com"}]}`)
	f.requests().Expect(as(t.Context(), ben), t, "ask", "payments/1", `{"reviewers":[3]}`,
		"403 NoAccessError: Only an author of the change request 1, or an Admin, may do this.")
	f.requests().Expect(as(t.Context(), amy), t, "ask", "payments/1", `{"reviewers":[3,2]}`, "400 ValidationError: The "+
		"`/body/reviewers` property must have the ids of accounts that may approve in the environment \"production\" of the "+
		"project \"payments\"; 2 may not.")
	f.requests().Expect(as(t.Context(), amy), t, "ask", "payments/1", `{"reviewers":[4,3]}`, "204")
	f.requests().Expect(as(t.Context(), guest), t, "approvers", "payments/1", "", `200 {"reviewers":[`+owners+`]}`)
}

// A title, a comment and a deletion.
func TestTitleCommentAndDeletion(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.ask(t, amy, turnOnF)
	set := f.requests()
	set.ExpectStatus(as(t.Context(), ben), t, "title", "payments/1", `{"title":"x"}`, 403)
	set.Expect(as(t.Context(), amy), t, "title", "payments/1", `{"title":"Start the sale"}`, "204")
	set.Expect(as(t.Context(), ben), t, "comment", "payments/1", `{"text":"Why?"}`, "204")
	set.Expect(as(t.Context(), ben), t, "comment", "payments/1", `{"text":" "}`,
		"400 ValidationError: The `/body/text` property must have a visible character and no control characters.")
	_, r := f.call(t.Context(), set, ben, "get", "payments/1", "")
	assert.Equal(t, "Start the sale Why?", r.Title+" "+r.Comments[0].Text)
	set.ExpectStatus(as(t.Context(), ben), t, "delete", "payments/1", "", 403)
	set.Expect(as(t.Context(), amy), t, "get", "shop/1", "",
		`404 NotFoundError: There is no change request with the id "1" in the project "shop".`)
	f.ask(t, ben, turnOnF)
	f.expect(t, "payments/2", "ben In review -> 200")
	set.Expect(as(t.Context(), ben), t, "delete", "payments/2", "", "409 ConflictError: The change request 2 has the state "+
		`"In review". Only a draft can be deleted. Cancel the request instead.`)
	set.Expect(as(t.Context(), amy), t, "delete", "payments/1", "", "200")
	set.ExpectStatus(as(t.Context(), amy), t, "get", "payments/1", "", 404)
	set.Expect(as(t.Context(), amy), t, "count", "payments", "",
		`200 {"total":1,"applied":0,"rejected":0,"reviewRequired":1,"approved":0,"scheduled":0}`)
	assert.Equal(t, int64(3), f.ask(t, amy, turnOnF).ID) // ids rise
	f.expect(t, "payments/2", "ben "+canceled+" -> 200")
	closed := fmt.Sprintf("409 ConflictError: The change request 2 has the state %q and cannot be changed.", canceled)
	set.Expect(as(t.Context(), ben), t, "title", "payments/2", `{"title":"x"}`, closed)
	set.Expect(as(t.Context(), ben), t, "ask", "payments/2", `{"reviewers":[3]}`, closed)
	set.Expect(as(t.Context(), ben), t, "comment", "payments/2", `{"text":"Why?"}`, "204")
}

// A project has at most 500 requests that are not closed.
func TestTooManyOpen(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	var ids []string
	for id := range 500 {
		ids = append(ids, fmt.Sprint(1000+id))
	}
	f.Put(t, f.Tables["ChangeRequests"], dynamo.Item{"key": dynamo.S("project:payments"),
		"open": &types.AttributeValueMemberNS{Value: ids}})
	got, _ := f.call(t.Context(), f.set("projectId", "environment"), amy, "create", "payments/production", turnOnF)
	assert.Equal(t, `400 ValidationError: The project "payments" has 500 change requests that are not closed, which is the `+
		"maximum. Apply, reject or cancel some first.", got)
}

// The check compares the numbers of projects and the counter of ids with the requests, and repairs them.
func TestCheck(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.ask(t, amy, turnOnF)
	f.ask(t, ben, turnOnF)
	f.expect(t, "payments/1", "amy "+canceled+" -> 200")
	check := func() []consistency.Inconsistency {
		_, found, err := f.store.Check(t.Context())
		assert.OK(t, err)
		return found
	}
	assert.Equal(t, 0, len(check()))
	before := f.Get(t, f.Tables["ChangeRequests"], dynamo.Item{"key": dynamo.S("project:payments")})
	f.Put(t, f.Tables["ChangeRequests"], dynamo.Item{"key": dynamo.S("project:payments"), "number Draft": dynamo.N(1),
		"open": &types.AttributeValueMemberNS{Value: []string{"1", "2"}}})
	f.Put(t, f.Tables["ChangeRequests"], dynamo.Item{"key": dynamo.S("#version"), "version": dynamo.N(2), "lastId": dynamo.N(1)})
	found := check()
	var texts []string
	for _, one := range found {
		texts = append(texts, one.Text)
		assert.OK(t, one.Repair(t.Context()))
	}
	assert.Equal(t, []string{"the counter of change requests is 1, below the request 2: ids would be reused",
		`the project "payments" has other numbers of change requests than are stored`}, texts)
	assert.Equal(t, 0, len(check()))
	after := f.Get(t, f.Tables["ChangeRequests"], dynamo.Item{"key": dynamo.S("project:payments")})
	assert.Equal(t, before.Int("number "+canceled), after.Int("number "+canceled))
}
