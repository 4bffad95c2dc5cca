package ascode_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"toggleadmin/pkg/local"
	"toggleadmin/pkg/operator/apiclient"
	"toggleadmin/pkg/operator/ascode"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/localtest"
)

// read writes documents into a file, and reads them.
func read(t *testing.T, documents string) []ascode.Resource {
	t.Helper()
	file := filepath.Join(t.TempDir(), "all.yaml")
	assert.OK(t, os.WriteFile(file, []byte(documents), 0o600))
	all, err := ascode.Read([]string{file})
	assert.OK(t, err)
	return all
}

func planOf(t *testing.T, client *ascode.Client, documents string) ascode.Plan {
	t.Helper()
	p, err := client.Plan(t.Context(), read(t, documents), ascode.Options{Source: source})
	assert.OK(t, err)
	return p
}

// applied applies a plan, and returns its outcomes in words.
func applied(t *testing.T, client *ascode.Client, p ascode.Plan) (all []string) {
	t.Helper()
	assert.OK(t, client.Apply(t.Context(), p, func(o ascode.Outcome) {
		switch {
		case o.Changed:
			all = append(all, fmt.Sprintf("%v: changed", o.Ref))
		case o.Canceled:
			all = append(all, fmt.Sprintf("%v: canceled", o.Ref))
		case o.Error != "":
			all = append(all, fmt.Sprintf("%v: %s", o.Ref, o.Error))
		default:
			all = append(all, fmt.Sprint(o.Ref))
		}
	}))
	return all
}

// send sends a request as the Admin, and expects a success.
func send(t *testing.T, service local.Running, method, path, body string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, service.BaseURL+"/api/admin/"+path, strings.NewReader(body))
	assert.OK(t, err)
	r.Header.Set("Authorization", service.Users[0].PAT)
	r.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(r)
	assert.OK(t, err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	assert.OK(t, err)
	if response.StatusCode >= http.StatusMultipleChoices {
		t.Fatalf("%s %s: %d %s", method, path, response.StatusCode, text)
	}
}

const shared = `
{kind: toggle-type, id: release, lifetimeDays: 10}
---
{kind: context-field, name: country, legalValues: [{value: SE}, {value: DK}]}
---
{kind: project, id: pay, name: Pay}
---
{kind: segment, name: Beta, constraints: [{contextName: country, operator: IN, values: [SE]}]}
---
{name: paying, project: pay, environments: {production: {enabled: true, strategies: [{name: default, segments: [Beta]}]}}}
`

// What somebody else changed or created since the plan is not overwritten. The rest is applied.
func TestApplySharedAsThePlanHasSeenIt(t *testing.T) {
	t.Parallel()
	service := localtest.Start(t, local.Config{DataDir: t.TempDir()})
	client := newClient(t, service)
	seen := planOf(t, client, shared)
	send(t, service, "PUT", "feature-types/release/lifetime", `{"lifetimeDays":11}`)
	send(t, service, "POST", "context", `{"name":"country","legalValues":[{"value":"SE"}]}`)
	send(t, service, "POST", "projects", `{"id":"pay","name":"Payments"}`)
	send(t, service, "POST", "segments", `{"name":"beta","constraints":[]}`)
	assert.Equal(t, []string{
		"toggle type release: changed", "context field country: changed", "project pay: changed", "segment Beta: changed",
		`toggle paying: The segment "Beta" was not created.`,
	}, applied(t, client, seen))

	seen = planOf(t, client, shared)
	send(t, service, "PUT", "feature-types/release/lifetime", `{"lifetimeDays":12}`)
	send(t, service, "PUT", "context/country", `{"description":"d","legalValues":[{"value":"SE"}]}`)
	send(t, service, "PUT", "projects/pay", `{"name":"Payments","description":"d"}`)
	send(t, service, "PUT", "segments/1", `{"name":"beta","description":"d","constraints":[]}`)
	assert.Equal(t, []string{
		"toggle type release: changed", "context field country: changed", "project pay: changed", "segment Beta: changed",
		"toggle paying",
	}, applied(t, client, seen))
	assert.Equal(t, []string{"toggle type release", "context field country", "project pay", "segment Beta"},
		applied(t, client, planOf(t, client, shared)))
	assert.Equal(t, 0, len(planOf(t, client, shared).Steps))
}

// What somebody else has changed of the environments and the groups of a project since the plan is not overwritten.
func TestApplyPartsOfAProjectAsThePlanHasSeenThem(t *testing.T) {
	t.Parallel()
	service := localtest.Start(t, local.Config{DataDir: t.TempDir()})
	client := newClient(t, service)
	send(t, service, "POST", "groups", `{"name":"Team"}`)
	send(t, service, "POST", "environments", `{"name":"staging","type":"test"}`)
	send(t, service, "POST", "environments", `{"name":"qa","type":"test"}`)
	send(t, service, "POST", "projects", `{"id":"pay","name":"Pay","environments":["development","production","qa"]}`)
	const file = `
kind: project
id: pay
name: Pay
environments: {staging: {}, qa: {}, production: {changeRequestsEnabled: true}}
groups: {Team: [Member]}
`
	seen := planOf(t, client, file)
	send(t, service, "POST", "projects/pay/environments", `{"environment":"staging"}`)
	send(t, service, "PUT", "projects/pay/environments/development/change-requests/config", `{"changeRequestsEnabled":true}`)
	send(t, service, "PUT", "projects/pay/environments/production/change-requests/config", `{"changeRequestsEnabled":true,"requiredApprovals":3}`)
	send(t, service, "PUT", "projects/pay/groups/1/roles?roles=4", "")
	assert.Equal(t, []string{
		"project pay staging changed true", "project pay development changed true", "project pay production changed true",
		"project pay Team changed true",
	}, parts(t, client, seen))
	assert.Equal(t, []string{
		"project pay development changed false", "project pay production changed false", "project pay Team changed false",
	}, parts(t, client, planOf(t, client, file)))
	assert.Equal(t, 0, len(planOf(t, client, file).Steps))
	seen = planOf(t, client, strings.Replace(file, "qa: {}, ", "", 1))
	send(t, service, "DELETE", "projects/pay/environments/qa", "")
	assert.Equal(t, []string{"project pay qa changed true"}, parts(t, client, seen))
}

// What somebody else changes of what has no request of its own, after apply has compared it and before its request, is not
// overwritten.
func TestApplyPartsThatChangeMeanwhile(t *testing.T) {
	t.Parallel()
	service := localtest.Start(t, local.Config{DataDir: t.TempDir()})
	send(t, service, "POST", "groups", `{"name":"Team"}`)
	send(t, service, "POST", "groups", `{"name":"Old team"}`)
	send(t, service, "POST", "environments", `{"name":"qa","type":"test"}`)
	send(t, service, "POST", "projects", `{"id":"pay","name":"Pay","environments":["development","production","qa"]}`)
	send(t, service, "PUT", "projects/pay/groups/2/roles?roles=6", "")
	const config = "projects/pay/environments/%s/change-requests/config"
	meanwhile := map[string]func(){
		"PUT feature-types/release/lifetime": func() {
			send(t, service, "PUT", "feature-types/release/lifetime", `{"lifetimeDays":12}`)
		},
		"DELETE projects/pay/environments/qa": func() {
			send(t, service, "PUT", fmt.Sprintf(config, "qa"), `{"changeRequestsEnabled":true}`)
		},
		"PUT " + fmt.Sprintf(config, "production"): func() {
			send(t, service, "PUT", fmt.Sprintf(config, "production"), `{"changeRequestsEnabled":true,"requiredApprovals":3}`)
		},
		"PUT projects/pay/groups/1/roles":    func() { send(t, service, "PUT", "projects/pay/groups/1/roles?roles=6", "") },
		"DELETE projects/pay/groups/2/roles": func() { send(t, service, "PUT", "projects/pay/groups/2/roles?roles=5", "") },
	}
	target, err := url.Parse(service.BaseURL)
	assert.OK(t, err)
	forward := httputil.NewSingleHostReverseProxy(target)
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		key := r.Method + " " + strings.TrimPrefix(r.URL.Path, "/api/admin/")
		if change, ok := meanwhile[key]; ok {
			delete(meanwhile, key) // apply sends one request after the other
			change()
		}
		forward.ServeHTTP(w, r)
	}))
	t.Cleanup(proxy.Close)
	client := clientOf(t, proxy.URL, service.Users[0].PAT)
	const file = `
{kind: toggle-type, id: release, lifetimeDays: 10}
---
kind: project
id: pay
name: Pay
environments: {development: {changeRequestsEnabled: true}, production: {changeRequestsEnabled: true}}
groups: {Team: [Member]}
`
	assert.Equal(t, []string{
		"toggle type release  changed true", "project pay qa changed true", "project pay development changed false",
		"project pay production changed true", "project pay Team changed true", "project pay Old team changed true",
	}, parts(t, client, planOf(t, client, file)))
	assert.Equal(t, 0, len(meanwhile))
	assert.Equal(t, []string{
		"toggle type release  changed false", "project pay qa changed false", "project pay production changed false",
		"project pay Team changed false", "project pay Old team changed false",
	}, parts(t, client, planOf(t, client, file)))
	assert.Equal(t, 0, len(planOf(t, client, file).Steps))
}

// The protection of an environment that apply adds to a project, and that somebody else changes before apply does, is not
// overwritten. It can have one from before.
func TestApplyTheProtectionOfANewEnvironment(t *testing.T) {
	t.Parallel()
	service := localtest.Start(t, local.Config{DataDir: t.TempDir()})
	client := newClient(t, service)
	send(t, service, "POST", "projects", `{"id":"pay","name":"Pay"}`)
	const config = "projects/pay/environments/development/change-requests/config"
	send(t, service, "PUT", config, `{"changeRequestsEnabled":true,"requiredApprovals":3}`)
	send(t, service, "DELETE", "projects/pay/environments/development", "")
	const file = `
kind: project
id: pay
name: Pay
environments: {production: {}, development: {changeRequestsEnabled: true, requiredApprovals: 2}}
`
	seen := planOf(t, client, file)
	var outcomes []bool
	assert.OK(t, client.Apply(t.Context(), seen, func(o ascode.Outcome) {
		if outcomes = append(outcomes, o.Changed); len(outcomes) == 1 {
			send(t, service, "PUT", config, `{"changeRequestsEnabled":true,"requiredApprovals":4}`)
		}
	}))
	assert.Equal(t, []bool{false, true}, outcomes)
	send(t, service, "DELETE", "projects/pay/environments/development", "")
	assert.Equal(t, []string{"project pay development changed false", "project pay development changed false"},
		parts(t, client, planOf(t, client, file)))
	assert.Equal(t, 0, len(planOf(t, client, file).Steps))
}

// A project that is changed after its environments, because that was a conflict before, is not taken for changed by others.
func TestChangeAProjectAfterItsEnvironments(t *testing.T) {
	t.Parallel()
	service := localtest.Start(t, local.Config{DataDir: t.TempDir()})
	client := newClient(t, service)
	send(t, service, "POST", "groups", `{"name":"Team","users":[{"user":{"id":1}}]}`)
	send(t, service, "POST", "projects", `{"id":"pay","name":"Pay","environments":["production"]}`)
	send(t, service, "DELETE", "projects/pay/users/1/roles", "")
	const file = `
kind: project
id: pay
name: Pay
mode: protected
environments: {production: {}, development: {}}
groups: {Team: [Owner]}
`
	assert.Equal(t, []string{
		"project pay development changed false", "project pay Team changed false", "project pay  changed false",
	}, parts(t, client, planOf(t, client, file)))
}

// parts applies a plan of a project, and returns what became of its parts.
func parts(t *testing.T, client *ascode.Client, p ascode.Plan) (all []string) {
	t.Helper()
	assert.OK(t, client.Apply(t.Context(), p, func(o ascode.Outcome) {
		all = append(all, fmt.Sprintf("%v %s%s changed %t", o.Ref, o.Environment, o.Group, o.Changed))
	}))
	return all
}

// A toggle that somebody else has changed since the plan is not overwritten, also if it is compared again.
func TestCompareAgain(t *testing.T) {
	t.Parallel()
	service := localtest.Start(t, local.Config{DataDir: t.TempDir()})
	client := newClient(t, service)
	applied(t, client, planOf(t, client, `{name: a, project: default}`))
	seen := planOf(t, client, `
{kind: segment, name: Beta, constraints: []}
---
{name: a, project: default, environments: {production: {enabled: true, strategies: [{name: default, segments: [Beta]}]}}}
`)
	send(t, service, "PUT", "projects/default/features/a", `{"description":"d"}`)
	assert.Equal(t, []string{"segment Beta", "toggle a: changed"}, applied(t, client, seen))
}

// An apply that ends in the middle leaves whole resources, and another one ends in the state of the files.
func TestApplySharedAfterAnInterruption(t *testing.T) {
	t.Parallel()
	service := localtest.Start(t, local.Config{DataDir: t.TempDir()})
	client := newClient(t, service)
	for steps := 5; ; steps-- {
		p := planOf(t, client, shared)
		assert.Equal(t, steps, len(p.Steps))
		if steps == 0 {
			break
		}
		ctx, interrupt := context.WithCancel(t.Context())
		err := client.Apply(ctx, p, func(ascode.Outcome) { interrupt() })
		assert.Equal(t, steps > 1, errors.Is(err, context.Canceled))
	}
}

// A field loses a legal value after the toggles that use it have changed.
func TestTryAConflictAgain(t *testing.T) {
	t.Parallel()
	service := localtest.Start(t, local.Config{DataDir: t.TempDir()})
	client := newClient(t, service)
	in := func(legal, used string) string {
		return `
{kind: context-field, name: country, legalValues: [` + legal + `]}
---
{name: a, project: default, environments: {production: {enabled: true, strategies: [
  {name: default, constraints: [{contextName: country, operator: IN, values: [` + used + `]}]}]}}}
`
	}
	applied(t, client, planOf(t, client, in("{value: SE}, {value: DK}", "SE")))
	assert.Equal(t, []string{"toggle a", "context field country"}, applied(t, client, planOf(t, client, in("{value: DK}", "DK"))))
}

// A segment that a strategy in a protected environment uses has a change request of its own. The rest is applied, and the
// changes of toggles there, which need a segment that is created first, become another one.
func TestSegmentsInProtectedEnvironments(t *testing.T) {
	t.Parallel()
	service := localtest.Start(t, local.Config{DataDir: t.TempDir()})
	applied(t, newClient(t, service), planOf(t, newClient(t, service), shared))
	send(t, service, "PUT", "projects/pay/environments/production/change-requests/config", `{"changeRequestsEnabled":true}`)
	send(t, service, "PUT", fmt.Sprintf("projects/pay/users/%d/roles?roles=4", service.Users[1].ID), "")
	client := clientOf(t, service.BaseURL, service.Users[1].PAT) // of an Editor
	edit := func(pairs ...string) string { return strings.NewReplacer(pairs...).Replace(shared) }
	changed := edit("values: [SE]", "values: [DK]", "segments: [Beta]", "segments: [Beta, New]") +
		"---\n{kind: segment, name: New}\n---\n{name: other, project: default}\n"
	assert.Equal(t, []string{"segment New", "toggle other", "change request 1", "change request 2"},
		applied(t, client, planOf(t, client, changed)))
	assert.Equal(t, []string{"change request 1", "change request 2"}, applied(t, client, planOf(t, client, changed)))

	// What somebody else has changed since the plan is not asked for. Requests that it makes impossible are replaced: the
	// strategy of the other one uses the segment.
	seen := planOf(t, client, changed)
	send(t, service, "PUT", "segments/1", `{"name":"Beta","description":"d","constraints":[{"contextName":"userId","operator":"IN","values":["7"]}]}`)
	assert.Equal(t, []string{"segment Beta: changed", "change request 3"}, applied(t, client, seen))
	assert.Equal(t, []string{"change request 3", "change request 4"}, applied(t, client, planOf(t, client, changed)))

	// The request of files that were reverted is canceled. A description changes nothing for applications.
	reverted := edit("values: [SE]", `values: ["7"]`, "contextName: country", "contextName: userId", "name: Beta", "name: Beta, description: e")
	assert.Equal(t, []string{"segment Beta", "change request 3: canceled", "change request 4: canceled"},
		applied(t, client, planOf(t, client, reverted)))

	// Applications do not get toggles that are archived.
	send(t, service, "DELETE", "projects/pay/features/paying", "")
	assert.Equal(t, "segment Beta []", fmt.Sprint(planOf(t, client, shared).Steps[0].Ref, planOf(t, client, shared).Steps[0].Protected))
}

// Archiving a toggle and a change of its dependency need the change request of the first protected environment in which it
// is on. What of the toggle needs none is applied, and the dependency stays until then.
func TestWholeTogglesInProtectedEnvironments(t *testing.T) {
	t.Parallel()
	service := localtest.Start(t, local.Config{DataDir: t.TempDir()})
	send(t, service, "POST", "projects", `{"id":"pay","name":"Pay"}`)
	send(t, service, "POST", "projects", `{"id":"book","name":"Book"}`)
	const stays = `
{name: stays, project: pay}
`
	const family = stays + `---
{name: parent, project: pay}
---
{name: off, project: pay, environments: {production: {enabled: false, strategies: [{name: default}]}}}
---
{name: child, project: pay, dependency: {feature: parent, enabled: false}, environments: {
  development: {enabled: true, strategies: [{name: default}]}, production: {enabled: true, strategies: [{name: default}]}}}
---
{name: alone, project: book, environments: {production: {enabled: true, strategies: [{name: default}]}}}
`
	applied(t, newClient(t, service), planOf(t, newClient(t, service), family))
	for _, project := range []string{"pay", "book"} {
		for _, environment := range []string{"development", "production"} {
			send(t, service, "PUT", "projects/"+project+"/environments/"+environment+"/change-requests/config", `{"changeRequestsEnabled":true}`)
		}
		send(t, service, "PUT", fmt.Sprintf("projects/%s/users/%d/roles?roles=4", project, service.Users[1].ID), "")
	}
	client := clientOf(t, service.BaseURL, service.Users[1].PAT) // of an Editor
	expect := func(project string, id int, want string) {
		t.Helper()
		assert.Equal(t, want, asked(t, service, project, id))
	}
	edit := func(pairs ...string) ascode.Plan {
		return planOf(t, client, strings.NewReplacer(pairs...).Replace(family))
	}
	replaced := []string{"name: child", "name: child, description: d", "{feature: parent, enabled: false}", "{feature: new}",
		"{name: parent", "{name: new, project: pay}\n---\n{name: parent"}
	assert.Equal(t, []string{"toggle new", "toggle child", "change request 1"}, applied(t, client, edit(replaced...)))
	expect("pay", 1, `development+production: child addDependency {"enabled":true,"feature":"new","variants":[]}`)
	assert.Equal(t, []string{"change request 1"}, applied(t, client, edit(replaced...)))
	seen := edit(replaced...)
	send(t, service, "PUT", "projects/pay/features/child", `{"description":"e"}`)
	assert.Equal(t, []string{"toggle child: changed"}, applied(t, client, seen))
	assert.Equal(t, []string{"toggle child", "change request 1: canceled"}, applied(t, client, edit()))
	assert.Equal(t, []string{"change request 2"}, applied(t, client, edit("dependency: {feature: parent, enabled: false}, ", "")))
	expect("pay", 2, "development+production: child deleteDependency ")

	// A parent is archived with the dependency of its child. Where a toggle is off, archiving it needs no change request.
	prune := func() ascode.Plan {
		p, err := client.Plan(t.Context(), read(t, stays), ascode.Options{Source: source, Prune: true})
		assert.OK(t, err)
		return p
	}
	assert.Equal(t, []string{"toggle new", "toggle off", "change request 3", "change request 4"}, applied(t, client, prune()))
	expect("pay", 4, "development+production: child deleteDependency , child archiveFeature , parent archiveFeature ")
	expect("book", 3, "production: alone archiveFeature ")
	assert.Equal(t, []string{"change request 3", "change request 4"}, applied(t, client, prune()))
	for _, state := range []string{"Approved", "Applied"} {
		send(t, service, "PUT", "projects/pay/change-requests/4/state", `{"state":"`+state+`"}`)
		send(t, service, "PUT", "projects/book/change-requests/3/state", `{"state":"`+state+`"}`)
	}
	assert.Equal(t, 0, len(prune().Steps))
}

// asked returns the environments whose approvals a change request needs, and its changes.
func asked(t *testing.T, service local.Running, project string, id int) string {
	t.Helper()
	api, err := apiclient.New(service.BaseURL, service.Users[0].PAT)
	assert.OK(t, err)
	var r struct {
		Environments []struct {
			Environment string `json:"environment"`
		} `json:"environments"`
		Features []struct {
			Name    string `json:"name"`
			Changes []struct {
				Action  string          `json:"action"`
				Payload json.RawMessage `json:"payload"`
			} `json:"changes"`
		} `json:"features"`
	}
	assert.OK(t, api.Get(t.Context(), &r, "projects", project, "change-requests", strconv.Itoa(id)))
	var places, changes []string
	for _, e := range r.Environments {
		places = append(places, e.Environment)
	}
	for _, f := range r.Features {
		for _, c := range f.Changes {
			changes = append(changes, fmt.Sprintf("%s %s %s", f.Name, c.Action, c.Payload))
		}
	}
	return strings.Join(places, "+") + ": " + strings.Join(changes, ", ")
}
