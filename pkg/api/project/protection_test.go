package project_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"toggleadmin/pkg/api/environment"
	"toggleadmin/pkg/api/project"
	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/lambdahttp"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/database"
	"toggleadmin/test/helper/operation"
)

// protections returns the operations on protections, with paths such as project/environment.
func (f fixture) protections(now func() time.Time) operation.Set {
	environments := environment.NewStore(f.Client, f.Tables, f.Log())
	return operation.Set{Projects: f.access, Parameters: []string{"projectId", "environment"},
		Handlers: map[string]lambdahttp.HandlerFunc{
			"config":    project.Config(environments, now),
			"protect":   project.UpdateConfig(f.store, environments),
			"freeze":    project.SetFreeze(f.store, environments, now),
			"getFreeze": project.GetFreeze(environments, now),
			"thaw":      project.DeleteFreeze(f.store, environments),
			"overview":  project.Overview(f.store, environments),
			"add":       project.AddEnvironment(f.store, environments),
			"remove":    project.RemoveEnvironment(f.store, environments),
			"rename":    project.Update(f.store),
		}}
}

func TestConfig(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	h := f.protections(time.Now)
	config := func(enabled bool, approvals any, off bool) string {
		return fmt.Sprintf(`200 [{"environment":"development","type":"development","changeRequestEnabled":false,`+
			`"requiredApprovals":null,"allowTurningOff":true},{"environment":"production","type":"production",`+
			`"changeRequestEnabled":%t,"requiredApprovals":%v,"allowTurningOff":%t}]`, enabled, approvals, off)
	}
	f.ExpectStatus(f.ada(t), t, "create", "", `{"id":"shop","name":"Shop"}`, 201)
	const unknown = `404 NotFoundError: There is no environment with the name "none".`
	for _, call := range []struct{ operation, path, body, want string }{
		{"config", "shop", "", config(false, "null", true)},
		{"protect", "shop/none", `{"changeRequestsEnabled":true}`, unknown},
		{"protect", "shop/production", `{}`,
			"400 ValidationError: The `/body/changeRequestsEnabled` property is required; you did not send it."},
		{"protect", "shop/production", `{"changeRequestsEnabled":true,"requiredApprovals":-1}`,
			"400 ValidationError: The `/body/requiredApprovals` property must be at least 0; you sent -1."},
		{"protect", "shop/production", `{"changeRequestsEnabled":true,"requiredApprovals":0}`, "204"},
		{"config", "shop", "", config(true, 1, true)},
		{"protect", "shop/production", `{"changeRequestsEnabled":true,"requiredApprovals":10,"allowTurningOff":false}`, "204"},
		{"config", "shop", "", config(true, 10, false)},
		// Other changes of the project keep it.
		{"rename", "shop", `{"name":"The shop"}`, "200"},
		{"config", "shop", "", config(true, 10, false)},
		{"remove", "shop/production", "", "200"},
		{"protect", "shop/production", `{"changeRequestsEnabled":false}`,
			`404 NotFoundError: The project "shop" has no environment with the name "production".`},
		{"add", "shop", `{"environment":"production"}`, "200"},
		{"config", "shop", "", config(true, 10, false)},
		{"remove", "shop/production", "", "200"},
		{"add", "shop", `{"environment":"production","changeRequestsEnabled":false}`, "200"},
		{"config", "shop", "", config(false, "null", false)},
		{"protect", "shop/production", `{"changeRequestsEnabled":false,"requiredApprovals":null}`, "204"},
		{"config", "shop", "", config(false, "null", true)},
	} {
		h.Expect(f.ada(t), t, call.operation, call.path, call.body, call.want)
	}
	// Who may change the project, but not its protection, may not add an environment with another protection.
	h.ExpectStatus(f.ada(t), t, "remove", "shop/production", "", 200)
	ben := f.as(t, access.UserPrincipal(2, access.RoleEditor))
	h.Expect(ben, t, "add", "shop", `{"environment":"production","changeRequestsEnabled":true}`,
		`403 NoAccessError: You need the "PROJECT_CHANGE_REQUEST_WRITE" permission in the project "shop" to perform this operation.`)
	h.ExpectStatus(ben, t, "add", "shop", `{"environment":"production","changeRequestsEnabled":false}`, 200)

	var protected []string
	for _, line := range database.About(f.Events(t), eventlog.Subject("project:shop")) {
		if len(line) > 20 && line[:14] == "change-request" {
			protected = append(protected, line)
		}
	}
	const by = "change-request-configuration-updated project:shop by user 1: "
	assert.Equal(t, []string{
		by + `{"changeRequestsEnabled":true,"requiredApprovals":null,"allowTurningOff":true} before ` +
			`{"changeRequestsEnabled":false,"requiredApprovals":null,"allowTurningOff":true}`,
		by + `{"changeRequestsEnabled":true,"requiredApprovals":10,"allowTurningOff":false} before ` +
			`{"changeRequestsEnabled":true,"requiredApprovals":null,"allowTurningOff":true}`,
		by + `{"changeRequestsEnabled":false,"requiredApprovals":null,"allowTurningOff":true} before ` +
			`{"changeRequestsEnabled":false,"requiredApprovals":10,"allowTurningOff":false}`,
	}, protected)
}

// The environments of a project and their protections have one entity tag, which freezes and other changes of the project
// do not change. A write compares it with the project that it changes.
func TestConfigTag(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	h := f.protections(time.Now)
	f.ExpectStatus(f.ada(t), t, "create", "", `{"id":"shop","name":"Shop"}`, 201)
	tag := func() string {
		_, header, _ := h.Serve(f.ada(t), operation.Request{Operation: "config", Path: "shop"})
		return header.Get("ETag")
	}
	const changed = "412 PreconditionFailed: The resource has changed since you read it. Read it again and repeat the change."
	first := tag()
	h.Expect(f.ada(t), t, "rename", "shop", `{"name":"The shop"}`, "200")
	assert.OK(t, f.store.SetFreeze(t.Context(), "shop", "production", &access.Freeze{Until: time.Now().Add(time.Hour)}))
	assert.Equal(t, first, tag())
	protect := func(with, environment, body, want string) {
		t.Helper()
		h.With("If-Match", with).Expect(f.ada(t), t, "protect", "shop/"+environment, body, want)
	}
	protect(first, "production", `{"changeRequestsEnabled":true}`, "204")
	protect(first, "production", `{"changeRequestsEnabled":true}`, changed) // also if nothing would change
	protect(first, "development", `{"changeRequestsEnabled":true}`, changed)
	second := tag()
	h.With("If-Match", first).Expect(f.ada(t), t, "remove", "shop/development", "", changed)
	h.With("If-Match", second).Expect(f.ada(t), t, "remove", "shop/development", "", "200")
	third := tag()
	protect(second, "production", `{"changeRequestsEnabled":false}`, changed)
	protect(third, "production", `{"changeRequestsEnabled":false}`, "204")
	protect(third, "production", `{"changeRequestsEnabled":true,"requiredApprovals":2}`, changed)

	// A change between reading and writing.
	last, two := tag(), access.Protection{ChangeRequests: true, RequiredApprovals: 2}
	client := f.Before(t, "TransactWriteItems", 1, func() {
		assert.OK(t, f.store.SetConfig(t.Context(), "shop", "production", two, project.Always))
	})
	h.Handlers["protect"] = project.UpdateConfig(project.NewStore(client, f.Tables, f.LogThrough(client)),
		environment.NewStore(f.Client, f.Tables, f.Log()))
	protect(last, "production", `{"changeRequestsEnabled":false,"allowTurningOff":false}`, changed)
	p, err := f.store.Get(t.Context(), "shop")
	assert.OK(t, err)
	stored := p.ProtectionOf("production")
	stored.Freeze = nil
	assert.Equal(t, two, stored)
}

// Each change of a protection is counted, so that the change of a segment finds out.
func TestProtectionsAreCounted(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	h := f.protections(time.Now)
	f.ExpectStatus(f.ada(t), t, "create", "", `{"id":"shop","name":"Shop"}`, 201)
	for i, call := range []struct {
		operation, path, body string
		want                  int
	}{
		{"protect", "shop/production", `{"changeRequestsEnabled":true}`, 204},
		{"freeze", "shop/production", `{"from":"2026-01-01T00:00:00Z","until":"2099-01-01T00:00:00Z","reason":"Sale"}`, 200},
		{"thaw", "shop/production", "", 200},
		{"add", "shop", `{"environment":"production","changeRequestsEnabled":false}`, 200},
	} {
		if call.operation == "add" {
			h.ExpectStatus(f.ada(t), t, "remove", "shop/production", "", 200)
		}
		h.ExpectStatus(f.ada(t), t, call.operation, call.path, call.body, call.want)
		h.ExpectStatus(f.ada(t), t, "rename", "shop", fmt.Sprintf(`{"name":"Shop %d"}`, i), 200)
		n, err := f.access.Protections(t.Context())
		assert.OK(t, err)
		assert.Equal(t, int64(i+1), n)
	}
}

func TestFreeze(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	now := time.Now().UTC().Truncate(time.Second)
	h := f.protections(func() time.Time { return now })
	f.ExpectStatus(f.ada(t), t, "create", "", `{"id":"shop","name":"Shop"}`, 201)
	at := func(after time.Duration) string { return now.Add(after).Format(time.RFC3339) }
	freeze := func(from, until time.Duration, reason string) string {
		return fmt.Sprintf(`{"from":%q,"until":%q,"reason":%q}`, at(from), at(until), reason)
	}
	shown := fmt.Sprintf(`200 {"from":%q,"until":%q,"reason":"Sale"}`, now.Add(-time.Hour).Format("2006-01-02T15:04:05.000Z"),
		now.Add(time.Hour).Format("2006-01-02T15:04:05.000Z"))
	const none = `404 NotFoundError: The environment "production" of the project "shop" has no freeze of its own.`
	for _, call := range []struct{ operation, body, want string }{
		{"getFreeze", "", none},
		{"thaw", "", none},
		{"freeze", `{}`, "400 ValidationError: The `/body/from` property is required; you did not send it. The `/body/reason` " +
			"property is required; you did not send it. The `/body/until` property is required; you did not send it."},
		{"freeze", freeze(-time.Hour, 0, "Sale"),
			"400 ValidationError: The `/body/until` property must be in the future; you sent \"" + at(0) + "\"."},
		{"freeze", freeze(time.Hour, time.Hour, "Sale"),
			"400 ValidationError: The `/body/until` property must be after /body/from; you sent \"" + at(time.Hour) + "\"."},
		{"freeze", freeze(0, time.Hour, " "),
			"400 ValidationError: The `/body/reason` property must have a visible character and no control characters."},
		{"freeze", freeze(-time.Hour, time.Hour, "Sale"), shown},
		{"getFreeze", "", shown},
		{"thaw", "", "200"},
		{"getFreeze", "", none},
	} {
		h.Expect(f.ada(t), t, call.operation, "shop/production", call.body, call.want)
	}
	h.ExpectStatus(f.ada(t), t, "freeze", "shop/production", freeze(-time.Hour, time.Hour, "Sale"), 200)
	everywhere := access.Freeze{From: now.Add(time.Hour), Until: now.Add(2 * time.Hour), Reason: "Move"}
	assert.OK(t, environment.NewStore(f.Client, f.Tables, f.Log()).SetFreeze(t.Context(), "production", &everywhere))
	config := func(freezes string) string {
		return `200 [{"environment":"development","type":"development","changeRequestEnabled":false,"requiredApprovals":null,` +
			`"allowTurningOff":true},{"environment":"production","type":"production","changeRequestEnabled":false,` +
			`"requiredApprovals":null,"allowTurningOff":true,"freezes":[` + freezes + `]}]`
	}
	format := func(t time.Time) string { return t.Format("2006-01-02T15:04:05.000Z") }
	move := fmt.Sprintf(`{"from":%q,"until":%q,"reason":"Move","allProjects":true}`, format(everywhere.From),
		format(everywhere.Until))
	sale := strings.TrimPrefix(strings.Replace(shown, "}", `,"allProjects":false}`, 1), "200 ")
	h.Expect(f.ada(t), t, "config", "shop", "", config(move+","+sale))
	now = now.Add(time.Hour) // the freeze of the project has ended
	h.Expect(f.ada(t), t, "getFreeze", "shop/production", "", none)
	h.Expect(f.ada(t), t, "config", "shop", "", config(move))
}
