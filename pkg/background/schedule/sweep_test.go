package schedule_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"toggleadmin/pkg/api/apitoken"
	"toggleadmin/pkg/api/changerequest"
	"toggleadmin/pkg/api/environment"
	"toggleadmin/pkg/api/segment"
	"toggleadmin/pkg/api/segmenttable"
	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/background/schedule"
	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/toggle"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/database"
	"toggleadmin/test/helper/toggles"
)

// The accounts of the fixture: an author and a person who applies, both Members, an Owner, and an Admin.
const (
	author = 1 + iota
	applier
	owner
	admin
)

// fixture has the toggles f and g of the project payments, in which production needs one approval.
type fixture struct {
	toggles.Fixture
	sweeper schedule.Sweeper
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	db := toggles.NewFixture(t)
	for _, name := range []string{"development", "production"} {
		_, err := environment.NewStore(db.Client, db.Tables, db.Log()).Create(t.Context(),
			environment.Environment{Name: name, Type: name, Last: true})
		assert.OK(t, err)
	}
	for i, role := range []access.Role{access.RoleViewer, access.RoleViewer, access.RoleViewer, access.RoleAdmin} {
		_, err := user.NewStore(db.Client, db.Tables, db.Log()).Add(t.Context(),
			user.User{Kind: user.Person, Email: fmt.Sprintf("%d@example.com", i), Role: role}, 0)
		assert.OK(t, err)
	}
	f := &fixture{Fixture: db}
	f.project(t, nil)
	db.Create(t, `{"project":"payments"}`, `{"project":"payments","name":"g"}`)
	f.sweeper = f.sweeperOn(db.Client)
	return f
}

// project writes the project.
func (f *fixture) project(t *testing.T, change func(*access.Project)) {
	t.Helper()
	p := access.NewProject("payments", "Payments")
	p.Mode = access.Protected
	p.Users = map[int64][]access.Role{author: {access.RoleMember}, applier: {access.RoleMember}, owner: {access.RoleOwner}}
	p.Protections = map[string]access.Protection{"production": {ChangeRequests: true, RequiredApprovals: 1}}
	if change != nil {
		change(&p)
	}
	f.PutProjects(t, p)
}

// sweeperOn returns a sweeper that uses a client. The clock of its process is fast by a year and does not move.
func (f *fixture) sweeperOn(client *dynamodb.Client) schedule.Sweeper {
	return schedule.Sweeper{
		Open:   func(now func() time.Time) *changerequest.Store { return f.requests(client, now) },
		Now:    func() time.Time { return toggles.Now().AddDate(1, 0, 0) },
		Logger: slog.New(slog.DiscardHandler),
	}
}

func (f *fixture) requests(client *dynamodb.Client, now func() time.Time) *changerequest.Store {
	return changerequest.NewStore(client, f.Tables, changerequest.Options{
		Log:           eventlog.New(client, f.Tables, now, 0),
		NewStrategyID: func() string { return "s1" },
	})
}

// as returns a context of a request by an account.
func (f *fixture) as(ctx context.Context, id int64) context.Context {
	role := access.RoleViewer
	if id == admin {
		role = access.RoleAdmin
	}
	return access.WithProjects(access.WithPrincipal(ctx, access.UserPrincipal(id, role)), f.ProjectReader())
}

const (
	archive = `archiveFeature`
	turnOn  = `updateEnabled {"enabled":true}`
)

// draft adds a draft with a change of a toggle, and returns its id.
func (f *fixture) draft(t *testing.T, environment, feature, change string) int64 {
	t.Helper()
	action, payload, _ := strings.Cut(change, " ")
	r, err := f.requests(f.Client, toggles.Now).AddChanges(f.as(t.Context(), author),
		changerequest.Request{Project: "payments", Environment: environment, CreatedBy: changerequest.Person{ID: author}},
		[]changerequest.Change{{Action: changerequest.Action(action), Feature: feature, Payload: []byte(payload),
			CreatedBy: changerequest.Person{ID: author}}}, []string{"/body"})
	assert.OK(t, err)
	return r.ID
}

// become changes the state of a request as an account, at a time after now.
func (f *fixture) become(ctx context.Context, t *testing.T, id int64, asked changerequest.Asked) {
	t.Helper()
	_, err := f.requests(f.Client, toggles.Now).Become(ctx, "payments", id, asked, "",
		func(changerequest.Request) error { return nil })
	assert.OK(t, err)
}

// scheduled adds a request for production that is approved and scheduled by the applier for a time after now, and returns
// its id.
func (f *fixture) scheduled(t *testing.T, feature, change string, after time.Duration) int64 {
	t.Helper()
	id := f.draft(t, "production", feature, change)
	f.become(f.as(t.Context(), author), t, id, changerequest.Asked{State: changerequest.InReview})
	f.become(f.as(t.Context(), owner), t, id, changerequest.Asked{State: changerequest.Approved})
	f.schedule(f.as(t.Context(), applier), t, id, after)
	return id
}

func (f *fixture) schedule(ctx context.Context, t *testing.T, id int64, after time.Duration) {
	t.Helper()
	f.become(ctx, t, id, changerequest.Asked{State: changerequest.Scheduled, ScheduledAt: toggles.Now().Add(after)})
}

// sweep sweeps with an event of a time after now. It returns the numbers of requests that were applied and suspended, have
// failed and are left, and then the error.
func (f *fixture) sweep(t *testing.T, s schedule.Sweeper, after time.Duration) string {
	t.Helper()
	sum, err := s.Sweep(t.Context(), schedule.Event{Time: toggles.Now().Add(after)})
	text := fmt.Sprint(sum.Applied, sum.Suspended, sum.Failed, sum.Left)
	if err != nil {
		text += " " + err.Error()[:16]
	}
	return text
}

// state returns the state of a request, with the status and the reason of a schedule.
func (f *fixture) state(t *testing.T, id int64) string {
	t.Helper()
	r, err := f.requests(f.Client, toggles.Now).Get(t.Context(), "payments", id)
	assert.OK(t, err)
	if r.Schedule == nil {
		return string(r.State)
	}
	return strings.TrimSpace(fmt.Sprint(r.Schedule.Status, " ", r.Schedule.Reason))
}

// events returns the types of the events of requests that a sweep writes, and of what the requests do.
func (f *fixture) events(t *testing.T) string {
	t.Helper()
	var all []string
	assert.OK(t, eventlog.NewReader(f.Log()).All(t.Context(), eventlog.Filter{Projects: []string{"payments"}},
		func(e eventlog.Event) error {
			if e.ChangeRequest != 0 && e.By == eventlog.System {
				all = append(all, fmt.Sprint(e.Type, " ", e.ChangeRequest))
			}
			return nil
		}))
	return strings.Join(all, ", ")
}

// What is due at the time of the event is applied once, whatever the clock of the process, and recorded as by the system.
func TestSweep(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	id := f.scheduled(t, "f", turnOn, time.Minute)
	assert.Equal(t, "0 0 0 0", f.sweep(t, f.sweeper, time.Minute-time.Millisecond))
	assert.Equal(t, "pending", f.state(t, id))
	assert.Equal(t, "1 0 0 0", f.sweep(t, f.sweeper, time.Minute))
	assert.Equal(t, "Applied", f.state(t, id))
	assert.Equal(t, "0 0 0 0", f.sweep(t, f.sweeper, time.Minute))
	assert.Equal(t, true, f.Toggle(t, "f").Environments["production"].Enabled)
	assert.Equal(t, "feature-strategy-add 1, feature-environment-enabled 1, change-request-applied 1", f.events(t))
}

// Without a time of the event nothing is known to be due.
func TestSweepWithoutTime(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	_, err := f.sweeper.Sweep(t.Context(), schedule.Event{})
	assert.Equal(t, `the event has no time: invoke the function with {"time": "2026-11-30T08:00:00Z"}`, err.Error())
}

// Requests are applied in the order of their times, not in that of their ids.
func TestSweepInOrder(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.scheduled(t, "f", archive, 2*time.Minute)
	f.scheduled(t, "g", archive, time.Minute)
	f.scheduled(t, "g", turnOn, 3*time.Minute) // a conflict as soon as g is archived
	assert.Equal(t, "2 1 0 0", f.sweep(t, f.sweeper, time.Hour))
	var order []string
	for event := range strings.SplitSeq(f.events(t), ", ") {
		if id, ok := strings.CutPrefix(event, "change-request-applied "); ok {
			order = append(order, id)
		}
	}
	assert.Equal(t, []string{"2", "1"}, order)
	assert.Equal(t, "suspended It has conflicts: What the change updateEnabled of the toggle \"g\" depends on has changed "+
		"since it was added.", f.state(t, 3))
}

// Two sweeps at the same time apply a request once.
func TestSweepsAtTheSameTime(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.scheduled(t, "f", `addStrategy {"name":"default"}`, time.Minute)
	second := f.sweeperOn(f.Before(t, "TransactWriteItems", 1, func() {
		assert.Equal(t, "1 0 0 0", f.sweep(t, f.sweeper, time.Minute))
	}))
	assert.Equal(t, "0 0 0 0", f.sweep(t, second, time.Minute))
	assert.Equal(t, 1, len(f.Toggle(t, "f").Environments["production"].Strategies))
}

// A request is suspended at its time, with one event, if a reason to trust it is gone.
func TestSuspended(t *testing.T) {
	t.Parallel()
	const needed = `It needs 1 more approval in the environment "production" of the project "payments".`
	for name, test := range map[string]struct {
		lose func(*testing.T, *fixture)
		want string
	}{
		"an author is disabled":   {disable(author), "The account of an author is disabled or deleted."},
		"an author is deleted":    {deleteAuthor, "The account of an author is disabled or deleted."},
		"an approver is disabled": {disable(owner), needed},
		"an approver is no Owner": {changeProject(func(p *access.Project) { p.Users[owner] = []access.Role{access.RoleMember} }),
			needed},
		"more approvals are needed": {changeProject(func(p *access.Project) {
			p.Protections["production"] = access.Protection{ChangeRequests: true, RequiredApprovals: 2}
		}), needed},
		"who scheduled it is disabled": {disable(applier), "The one who scheduled it may no longer apply it."},
		"who scheduled it has no role": {changeProject(func(p *access.Project) { delete(p.Users, applier) }),
			"The one who scheduled it may no longer apply it."},
		"a conflict": {archiveF, "It has conflicts: What the change updateEnabled of the toggle \"f\" depends on has changed " +
			"since it was added."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			id := f.scheduled(t, "f", turnOn, time.Minute)
			test.lose(t, f)
			assert.Equal(t, "0 1 0 0", f.sweep(t, f.sweeper, time.Minute))
			assert.Equal(t, "suspended "+test.want, f.state(t, id))
			assert.Equal(t, "0 0 0 0", f.sweep(t, f.sweeper, time.Hour))
			assert.Equal(t, "change-request-schedule-suspended 1", f.events(t))
		})
	}
}

func disable(account int64) func(*testing.T, *fixture) {
	return func(t *testing.T, f *fixture) {
		t.Helper()
		assert.OK(t, user.NewStore(f.Client, f.Tables, f.Log()).SetDisabled(t.Context(), account, true, false))
	}
}

func deleteAuthor(t *testing.T, f *fixture) {
	t.Helper()
	_, err := user.NewStore(f.Client, f.Tables, f.Log()).BeginDeletion(t.Context(), user.Person, author, nil)
	assert.OK(t, err)
}

func changeProject(change func(*access.Project)) func(*testing.T, *fixture) {
	return func(t *testing.T, f *fixture) {
		t.Helper()
		f.project(t, change)
	}
}

func archiveF(t *testing.T, f *fixture) {
	t.Helper()
	f.Update(t, "f", `{"archived":true}`)
}

// The deletion of a segment that is in use meanwhile fails at once, with the reason.
func TestSegmentInUse(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	_, err := segment.NewStore(f.Client, f.Tables, f.Log()).Create(t.Context(),
		segment.Segment{Segment: segmenttable.Segment{Segment: toggle.Segment{Name: "Beta"}}})
	assert.OK(t, err)
	id := f.scheduled(t, "", `deleteSegment {"id":1}`, time.Minute)
	f.Update(t, "g", `{"environments":{"development":{"strategies":[{"id":"a","name":"default","segments":[1]}]}}}`)
	assert.Equal(t, "0 0 1 0", f.sweep(t, f.sweeper, time.Minute))
	assert.Equal(t, `failed The segment "Beta" is in use. The number of toggles with a strategy that uses it, with archived `+
		`ones, is 1: "g".`, f.state(t, id))
}

// A freeze suspends what is due, also for an Admin. What is still to be applied is applied after its end, also if that is
// earlier than it was.
func TestFrozen(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	freeze := func(until time.Duration) {
		f.project(t, func(p *access.Project) {
			p.Protections = map[string]access.Protection{"production": {ChangeRequests: true, RequiredApprovals: 1,
				Freeze: &access.Freeze{From: toggles.Now(), Until: toggles.Now().Add(until), Reason: "Sale"}}}
		})
	}
	id := f.scheduled(t, "f", turnOn, time.Minute)
	f.schedule(f.as(t.Context(), admin), t, id, 2*time.Minute)
	freeze(24 * time.Hour)
	assert.Equal(t, "0 1 0 0", f.sweep(t, f.sweeper, 2*time.Minute))
	assert.Equal(t, `suspended The environment "production" is frozen until 2026-12-31T05:39:00.123Z: Sale`, f.state(t, id))
	assert.Equal(t, "0 1 0 0", f.sweep(t, f.sweeper, 3*time.Minute))
	assert.Equal(t, "change-request-schedule-suspended 1", f.events(t))
	freeze(time.Hour)
	assert.Equal(t, "0 1 0 0", f.sweep(t, f.sweeper, time.Hour-time.Millisecond))
	assert.Equal(t, `suspended The environment "production" is frozen until 2026-12-30T06:39:00.123Z: Sale`, f.state(t, id))
	assert.Equal(t, "1 0 0 0", f.sweep(t, f.sweeper, time.Hour))
}

// A freeze that begins while a request is applied prevents it, also for an Admin.
func TestFrozenWhileApplied(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		operation string
		n         int
		want      string
	}{
		"before the changes are planned": {"GetItem", 3, "0 0 0 1 the sweep failed"}, // the account of who scheduled
		"before they are written":        {"TransactWriteItems", 1, "0 1 0 0"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			id := f.scheduled(t, "f", turnOn, time.Minute)
			f.schedule(f.as(t.Context(), admin), t, id, 2*time.Minute)
			late := f.sweeperOn(f.Before(t, test.operation, test.n, func() {
				assert.OK(t, environment.NewStore(f.Client, f.Tables, f.Log()).SetFreeze(t.Context(), "production",
					&access.Freeze{From: toggles.Now(), Until: toggles.Now().Add(time.Hour), Reason: "Sale"}))
			}))
			assert.Equal(t, test.want, f.sweep(t, late, 2*time.Minute))
			assert.Equal(t, "0 1 0 0", f.sweep(t, f.sweeper, 3*time.Minute))
			assert.Equal(t, "1 0 0 0", f.sweep(t, f.sweeper, time.Hour))
		})
	}
}

// Where no approvals are needed, the permissions of the direct operations count, of the one who scheduled, at the time.
func TestScheduledWithoutApprovals(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for _, change := range []string{turnOn, archive} {
		id := f.draft(t, "development", "f", change)
		f.become(f.as(t.Context(), author), t, id, changerequest.Asked{State: changerequest.InReview})
		f.schedule(f.as(t.Context(), author), t, id, time.Duration(id)*time.Minute)
	}
	assert.Equal(t, "1 0 0 0", f.sweep(t, f.sweeper, time.Minute))
	f.project(t, func(p *access.Project) { p.Users[author] = []access.Role{access.RoleReader} })
	assert.Equal(t, "0 1 0 0", f.sweep(t, f.sweeper, 2*time.Minute))
	assert.Equal(t, "suspended The one who scheduled it has no longer the permissions of its operations.", f.state(t, 2))
}

// Until the token of a pipeline is revoked or expires, what it has scheduled is applied.
func TestScheduledByAPIToken(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	valid, expiring, revoked := f.asToken(t, nil), f.asToken(t, new(toggles.Now().Add(time.Minute))), f.asToken(t, nil)
	f.schedule(valid, t, f.scheduled(t, "f", turnOn, time.Hour), time.Minute)
	f.schedule(expiring, t, f.scheduled(t, "g", turnOn, time.Hour), time.Minute)
	f.schedule(revoked, t, f.scheduled(t, "g", archive, time.Hour), time.Minute)
	f.revoke(revoked, t)
	assert.Equal(t, "1 2 0 0", f.sweep(t, f.sweeper, time.Minute))
	for id, want := range map[int64]string{1: "Applied", 2: "suspended The one who scheduled it may no longer apply it.",
		3: "suspended The one who scheduled it may no longer apply it."} {
		assert.Equal(t, want, f.state(t, id))
	}
}

// asToken creates an API token, which can expire, and returns a context of a request with it.
func (f *fixture) asToken(t *testing.T, expiresAt *time.Time) context.Context {
	t.Helper()
	token, err := apitoken.NewStore(f.Client, f.Tables, f.Log()).Create(t.Context(),
		apitoken.APIToken{Name: "ci", CreatedAt: toggles.Created(), ExpiresAt: expiresAt},
		deterministic(len(f.Scan(t, f.Tables["ApiTokens"]))))
	assert.OK(t, err)
	p := access.APITokenPrincipal(token.Selector)
	p.Name, p.TokenID = "API token ci", token.Selector.String()
	return access.WithProjects(access.WithPrincipal(t.Context(), p), f.ProjectReader())
}

// revoke revokes the token of a context.
func (f *fixture) revoke(token context.Context, t *testing.T) {
	t.Helper()
	selector, _ := access.ParseSelector(access.PrincipalFrom(token).TokenID)
	assert.OK(t, apitoken.NewStore(f.Client, f.Tables, f.Log()).Delete(t.Context(), selector))
}

// What a scheduled request depends on is still there when it is applied.
func TestTrustLostWhileApplied(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		lose func(*testing.T, *fixture)
		want string
	}{
		"an author is disabled":        {disable(author), "suspended The account of an author is disabled or deleted."},
		"an approver is disabled":      {disable(owner), "suspended It needs 1 more approval in the environment \"production\" of the project \"payments\"."},
		"who scheduled it is disabled": {disable(applier), "suspended The one who scheduled it may no longer apply it."},
		"a token is revoked":           {nil, "suspended The one who scheduled it may no longer apply it."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			id := f.scheduled(t, "f", turnOn, time.Minute)
			if test.lose == nil {
				token := f.asToken(t, nil)
				f.schedule(token, t, id, 2*time.Minute)
				test.lose = func(t *testing.T, f *fixture) {
					t.Helper()
					f.revoke(token, t)
				}
			}
			late := f.sweeperOn(f.Before(t, "TransactWriteItems", 1, func() { test.lose(t, f) }))
			assert.Equal(t, "0 1 0 0", f.sweep(t, late, 2*time.Minute))
			assert.Equal(t, test.want, f.state(t, id))
		})
	}
}

// deterministic is a source of random bytes, which are all the same.
type deterministic byte

func (d deterministic) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(d)
	}
	return len(p), nil
}

// A failure that can pass is repeated for ten minutes. Meanwhile, later requests for the same environment wait.
func TestRepeated(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	id := f.scheduled(t, "f", turnOn, time.Minute)
	f.scheduled(t, "g", turnOn, 2*time.Minute)
	other := f.draft(t, "development", "g", turnOn)
	f.become(f.as(t.Context(), author), t, other, changerequest.Asked{State: changerequest.InReview})
	f.schedule(f.as(t.Context(), author), t, other, 2*time.Minute)
	failing := f.refusing(t, "feature-environment-enabled", `production`)
	assert.Equal(t, "1 0 0 2 the sweep failed", f.sweep(t, failing, time.Hour))
	assert.Equal(t, "pending", f.state(t, id))
	assert.Equal(t, "0 0 0 2 the sweep failed", f.sweep(t, failing, time.Hour+10*time.Minute-time.Millisecond))
	// The second one fails as well from now on.
	assert.Equal(t, "0 0 1 1 the sweep failed", f.sweep(t, failing, time.Hour+10*time.Minute))
	assert.Equal(t, "failed Applying it has failed for ten minutes. An operator finds the cause in the log of "+
		"sweep-change-requests.", f.state(t, id))
	assert.Equal(t, "1 0 0 0", f.sweep(t, f.sweeper, time.Hour+11*time.Minute))
	assert.Equal(t, "change-request-schedule-failed 1", strings.Split(f.events(t), ", ")[3])
}

// refusing returns a sweeper whose transactions that contain texts are refused, as DynamoDB refuses one that is damaged.
func (f *fixture) refusing(t *testing.T, texts ...string) schedule.Sweeper {
	t.Helper()
	client, _ := f.Through(t, func(c *database.Call) (*http.Response, error) {
		if c.Operation != "TransactWriteItems" {
			return c.Pass()
		}
		for _, text := range texts {
			if !strings.Contains(c.Body, text) {
				return c.Pass()
			}
		}
		return c.Refuse("ValidationException")
	})
	return f.sweeperOn(client)
}

// What a repetition does not change has failed at once, with the message. Somebody can schedule it again.
func TestFailed(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	id := f.scheduled(t, "f", archive, time.Minute)
	f.Update(t, "g", `{"dependency":{"feature":"f","enabled":true}}`)
	assert.Equal(t, "0 0 1 0", f.sweep(t, f.sweeper, time.Minute))
	assert.Equal(t, `failed The toggle "f" cannot be archived, because other toggles depend on it: "g". Remove their `+
		`dependencies first.`, f.state(t, id))
	assert.Equal(t, "change-request-schedule-failed 1", f.events(t))
	f.Update(t, "g", `{"dependency":null}`)
	f.schedule(f.as(t.Context(), applier), t, id, 2*time.Minute)
	assert.Equal(t, "1 0 0 0", f.sweep(t, f.sweeper, 2*time.Minute))
}
