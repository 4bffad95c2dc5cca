package e2e_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/test/helper/assert"
)

// The permissions of roles in the test of access, as docs/access.md lists them. They are not read from package access.
const (
	memberOf = "CREATE_FEATURE UPDATE_FEATURE DELETE_FEATURE UPDATE_FEATURE_DEPENDENCY CREATE_FEATURE_STRATEGY " +
		"UPDATE_FEATURE_STRATEGY DELETE_FEATURE_STRATEGY UPDATE_FEATURE_ENVIRONMENT READ_PROJECT_API_TOKEN " +
		"CREATE_PROJECT_API_TOKEN DELETE_PROJECT_API_TOKEN"
	ownerOf = memberOf + " MOVE_FEATURE_TOGGLE UPDATE_PROJECT DELETE_PROJECT UPDATE_PROJECT_SEGMENT PROJECT_USER_ACCESS_WRITE " +
		"PROJECT_CHANGE_REQUEST_WRITE"
	editorOf   = memberOf + " MOVE_FEATURE_TOGGLE"
	editorRoot = "CREATE_CONTEXT_FIELD UPDATE_CONTEXT_FIELD DELETE_CONTEXT_FIELD CREATE_SEGMENT UPDATE_SEGMENT DELETE_SEGMENT " +
		"READ_CLIENT_API_TOKEN CREATE_PROJECT CREATE_TAG_TYPE UPDATE_TAG_TYPE DELETE_TAG_TYPE"
	everything = "*"
	// Of the custom role, whose permissions of environments are those of development.
	customProject, customDevelopment = "CREATE_FEATURE", "UPDATE_FEATURE_ENVIRONMENT CREATE_FEATURE_STRATEGY"
)

// account is somebody in the test of access.
type account struct {
	name   string            // of the token
	root   string            // permissions in the installation
	editor bool              // the root role Editor
	roles  map[string]string // permissions by project
	custom []string          // projects in which the account has the custom role
	none   bool              // the credential is not valid, or there is none
	user   bool              // the credential identifies a user
}

// place is a project in the test of access.
type place struct {
	id       string
	mode     string // empty: there is no such project
	archived bool
}

func places() []place {
	return []place{
		{"web", "open", false}, {"core", "protected", false}, {"vault", "private", false}, {"attic", "open", true},
		{"crypt", "private", true}, {"nowhere", "", false},
	}
}

// sees reports whether an account may know of a project.
func (a account) sees(p place) bool {
	_, has := a.roles[p.id]
	return p.mode != "" && (p.mode != "private" || a.root == everything || has || slices.Contains(a.custom, p.id))
}

// has reports whether an account has a permission in the installation or, unless the project is nil, in a project.
func (a account) has(permission string, p *place, environment string) bool {
	lists := []string{a.root}
	if p != nil {
		lists = append(lists, a.roles[p.id])
		if a.editor && p.mode == "open" {
			lists = append(lists, editorOf)
		}
		if slices.Contains(a.custom, p.id) {
			lists = append(lists, customProject)
			if environment == "development" {
				lists = append(lists, customDevelopment)
			}
		}
	}
	return a.root == everything || slices.ContainsFunc(lists, func(list string) bool {
		return slices.Contains(strings.Fields(list), permission)
	})
}

// The answers to attempts.
const (
	permitted  = "permitted" // by the access; the request can fail for another reason
	refused    = "403"
	unknown    = "404" // the project, or what belongs to it
	badProject = "400" // the body names a project that is unknown
	noAccount  = "401"
)

// answer returns the answer that an account must get to an attempt in a project and an environment.
func (a account) answer(operation string, needs string, p place, environment string) string {
	kind, permission, _ := strings.Cut(needs, " ")
	namesProject := strings.Contains(attempts()[operation].request+attempts()[operation].body, "{project}")
	decide := func(permission string, p *place) string {
		if a.has(permission, p, environment) {
			return permitted
		}
		return refused
	}
	if a.none {
		return noAccount
	}
	switch kind {
	case "anyone":
		return permitted
	case "person":
		switch {
		case !a.user && operation == "update-feedback":
			return noAccount
		case !a.user:
			return refused
		case permission == "visible" && !a.sees(p):
			return unknown
		}
		return permitted
	case "root":
		if a.has(permission, nil, "") && namesProject && operation != "create-api-token" && !a.sees(p) {
			return unknown
		}
		return decide(permission, nil)
	case "segment":
		switch {
		case !a.sees(p) && permission == "CREATE_SEGMENT":
			return badProject
		case !a.sees(p):
			return unknown
		case permission == "":
			return permitted
		case a.has("UPDATE_PROJECT_SEGMENT", &p, ""):
			return permitted
		}
		return decide(permission, nil)
	}
	switch {
	case !a.sees(p):
		return unknown
	case kind == "visible":
		return permitted
	case kind == "asks": // for changes
		_, has := a.roles[p.id]
		if a.user && (p.mode == "open" || a.root == everything || has || slices.Contains(a.custom, p.id)) {
			return permitted
		}
		return refused
	case kind == "environment":
		return decide(permission, &p)
	}
	environment = ""
	return decide(permission, &p)
}

// TestAccess sends a request to each operation as each account, for projects of each mode in two environments, and
// compares what is refused with what the roles permit.
func TestAccess(t *testing.T) {
	t.Parallel()
	s := startWithoutEvents(t)
	accounts, targets := s.fillAccess(t)
	operations := attempts()
	type cell struct {
		account     account
		operation   string
		place       place
		environment string
	}
	var cells []cell
	for _, a := range accounts {
		for _, operation := range slices.Sorted(maps.Keys(operations)) {
			text := operations[operation].request + operations[operation].body
			for _, p := range places() {
				for _, environment := range []string{"development", "production"} {
					of := func(name string) bool { return strings.Contains(text, "{"+name+"}") }
					ofProject := of("project") || of("archived") || of("segment")
					if p.id != "web" && !ofProject || environment == "production" && !of("environment") {
						continue
					}
					if (of("archived") || of("segment")) && !of("project") && p.mode == "" {
						continue
					}
					cells = append(cells, cell{a, operation, p, environment})
				}
			}
		}
	}
	if len(cells) < 5_000 {
		t.Errorf("%d attempts", len(cells))
	}
	next := make(chan cell)
	var senders sync.WaitGroup
	for range 4 {
		senders.Go(func() {
			for c := range next {
				target := maps.Clone(targets[c.place.id])
				target["environment"] = c.environment
				a := operations[c.operation]
				got, response := s.attempt(t, c.account.name, fill(a.request, target), fill(a.body, target))
				if want := c.account.answer(c.operation, a.needs, c.place, c.environment); got != want {
					t.Errorf("%s of %s in %s (%s), %s: %s, want %s: %s", c.operation, c.account.name, c.place.id, c.place.mode,
						c.environment, got, want, response)
				}
			}
		})
	}
	for _, c := range cells {
		next <- c
	}
	close(next)
	senders.Wait()
}

// TestPreconditions sends each operation that changes or deletes a resource a tag that the resource does not have. None
// changes anything: the rule about conflicting changes in docs/contract.md holds for all of them.
func TestPreconditions(t *testing.T) {
	t.Parallel()
	s := startWithoutEvents(t)
	_, targets := s.fillAccess(t)
	target := targets["web"]
	target["environment"] = "production"
	before := s.contents(t)
	for operation, a := range attempts() {
		method, path, _ := strings.Cut(fill(a.request, target), " ")
		if !slices.Contains([]string{http.MethodPut, http.MethodPatch, http.MethodDelete}, method) {
			continue
		}
		status, response := s.sendIf(t, `"other"`, method+" /api/admin/"+path, "admin", fill(a.body, target))
		if status != http.StatusPreconditionFailed && status != http.StatusNotFound { // which precedes it
			t.Errorf("%s: %d %s", operation, status, response)
		}
	}
	requireSame(t, before, s.contents(t))
}

// TestForeignPaths sends requests that name, below a project in which the account may do everything, what belongs to
// another project. None of them succeeds or changes anything, and those for a private project answer as if there were
// nothing.
func TestForeignPaths(t *testing.T) {
	t.Parallel()
	s := startWithoutEvents(t)
	_, targets := s.fillAccess(t)
	owner := s.addPerson(t, "core-owner", 3)
	s.must(t, "admin", fmt.Sprintf("PUT projects/core/users/%d/roles?roles=4", owner), "")
	s.must(t, "admin", "POST projects/core/features", `{"name":"core-free"}`) // without a parent or a child
	before := s.contents(t)
	const both = `{"features":["core-flag","{toggle}"]}`
	more := map[string]attempt{
		"bulk on":  {"POST projects/core/bulk_features/environments/production/on", both, ""},
		"bulk off": {"POST projects/core/bulk_features/environments/production/off", both, ""},
		"stale":    {"POST projects/core/stale", `{"features":["core-flag","{toggle}"],"stale":true}`, ""},
		"parent":   {"POST projects/core/features/core-child/dependencies", `{"feature":"{toggle}"}`, ""},
		"move":     {"POST projects/core/features/core-free/changeProject", `{"newProjectId":"{id}"}`, ""},
		"move in":  {"POST projects/{id}/features/{toggle}/changeProject", `{"newProjectId":"core"}`, ""},
		"strategy": {"PUT projects/core/features/core-flag/environments/production/strategies/{strategy}", `{"title":"a"}`, ""},
		"deletion": {"DELETE projects/core/features/core-flag/environments/production/strategies/{strategy}", "", ""},
		"order": {
			"POST projects/core/features/core-flag/environments/production/strategies/set-sort-order",
			`[{"id":"{strategy}","sortOrder":9}]`, "",
		},
		"segment":       {"PUT segments/{segment}", `{"project":"core"}`, ""},
		"give away":     {"PUT segments/{core segment}", `{"project":"{id}"}`, ""},
		"no project":    {"PUT segments/{core segment}", `{"project":null}`, ""},
		"root role":     {"PUT projects/core/users/{account}/roles?roles=1", "", ""},
		"no last Owner": {"PUT projects/core/access", `{"roles":[]}`, ""},
	}
	for operation, a := range attempts() {
		names := a.request + a.body
		foreign := []string{"{toggle}", "{archived}", "{child}", "{segment}", "{token}"}
		if !strings.HasPrefix(a.request, "GET ") && slices.ContainsFunc(foreign, func(name string) bool { return strings.Contains(names, name) }) &&
			operation != "evaluate-strategy" {
			more[operation] = a
		}
	}
	for _, p := range []string{"web", "vault", "crypt"} {
		target := maps.Clone(targets[p])
		target["project"], target["id"], target["environment"] = "core", p, "production"
		target["destination"], target["parent"], target["core segment"] = "core", "core-flag", targets["core"]["segment"]
		for _, name := range slices.Sorted(maps.Keys(more)) {
			request, body := fill(more[name].request, target), fill(more[name].body, target)
			status, response := s.send(t, strings.Replace(request, " ", " /api/admin/", 1), "core-owner", body)
			if status < 400 || status >= 500 || p != "web" && status == http.StatusForbidden && strings.Contains(string(response), p) {
				t.Errorf("%s %s: %d %s", request, body, status, response)
			}
		}
	}
	requireSame(t, before, s.contents(t))
}

// attempt sends a request that is rejected after the access was checked: its body has an unknown property or, without
// one, it has a condition that is not met. It returns the answer.
func (s *service) attempt(t *testing.T, as, request, body string) (answer, response string) {
	t.Helper()
	if strings.Contains(request, " segments") { // the body of a segment is checked before its project
		body = strings.Replace(body, `"name":"attempt"`, `"name":"web"`, 1) // which is taken
	} else {
		body = strings.Replace(body, "{", `{"attempt":true,`, 1)
	}
	method, path, _ := strings.Cut(strings.Replace(request, "roles=5", "roles=99", 1), " ") // there is no such role
	match := ""
	if method != http.MethodGet {
		match = `"attempt"`
	}
	status, content := s.sendIf(t, match, method+" /api/admin/"+path, as, body)
	var e struct{ Message string }
	if err := json.Unmarshal(content, &e); err != nil {
		e.Message = err.Error() // a list, or no body
	}
	missing := []string{"There is no project", "There is no toggle", "There is no segment"}
	switch {
	case status == http.StatusUnauthorized:
		return noAccount, e.Message
	case status == http.StatusForbidden:
		return refused, e.Message
	case status == http.StatusNotFound &&
		slices.ContainsFunc(missing, func(text string) bool { return strings.HasPrefix(e.Message, text) }):
		return unknown, e.Message
	case status == http.StatusBadRequest && strings.Contains(e.Message, "must be the id of a project"):
		return badProject, e.Message
	}
	return permitted, fmt.Sprint(status, " ", e.Message)
}

// contents returns the items of the tables that operations of the tests write, but the times at which credentials were
// used.
func (s *service) contents(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, table := range []string{"Features", "Access", "Segments", "Environments", "ContextFields", "ClientTokens", "Events"} {
		for item, err := range dynamo.Scan(t.Context(), s.client(t), s.tables[table]) {
			assert.OK(t, err)
			var decoded map[string]any
			assert.OK(t, dynamo.Unmarshal(item, &decoded))
			text := fmt.Sprint(decoded)
			all[table+" "+text] = text
		}
	}
	return all
}

// requireSame requires that nothing was written.
func requireSame(t *testing.T, before, after map[string]string) {
	t.Helper()
	for key := range after {
		if _, ok := before[key]; !ok {
			t.Errorf("written: %s", key)
		}
	}
	for key := range before {
		if _, ok := after[key]; !ok {
			t.Errorf("missing: %s", key)
		}
	}
}

// fillAccess creates the places, what attempts name in each of them, and the accounts.
func (s *service) fillAccess(t *testing.T) (accounts []account, targets map[string]map[string]string) {
	t.Helper()
	s.must(t, "admin", "POST roles", `{"name":"Deployer","type":"custom","permissions":[{"name":"CREATE_FEATURE"},`+
		`{"name":"UPDATE_FEATURE_ENVIRONMENT","environment":"development"},{"name":"CREATE_FEATURE_STRATEGY","environment":"development"}]}`)
	s.must(t, "admin", "POST roles", `{"name":"Founder","type":"root-custom","permissions":[{"name":"CREATE_PROJECT"},`+
		`{"name":"UPDATE_SEGMENT"}]}`)
	s.must(t, "admin", "POST context", `{"name":"plan"}`)
	ids := map[string]int64{}
	for _, name := range []string{
		"vault-owner", "vault-member", "vault-reader", "core-member", "deployer", "grouped", "editor-by-group", "disabled", "nobody",
	} {
		ids[name] = s.addPerson(t, name, 3)
	}
	ids["founder"] = s.addPerson(t, "founder", 8)
	ids["neighbor"] = s.addPerson(t, "neighbor", 2)
	s.must(t, "neighbor", "POST projects", `{"id":"island","name":"Island","mode":"private"}`)
	s.must(t, "admin", "POST groups", fmt.Sprintf(`{"name":"members","users":[{"user":{"id":%d}}]}`, ids["grouped"]))
	s.must(t, "admin", "POST groups", fmt.Sprintf(`{"name":"editors","rootRole":2,"users":[{"user":{"id":%d}}]}`, ids["editor-by-group"]))
	s.must(t, "admin", "POST service-account", `{"username":"robot","name":"robot","rootRole":3}`)
	targets = map[string]map[string]string{}
	for _, p := range places() {
		target := map[string]string{
			"project": p.id, "toggle": p.id + "-flag", "archived": p.id + "-old", "child": p.id + "-child", "parent": p.id + "-flag",
			"destination": p.id, "strategy": "00000000-0000-4000-8000-000000000000", "segment": "99", "field": "plan", "tag": "none",
			"application": "none", "token": "none", "account": fmt.Sprint(ids["nobody"]), "group": "1", "role": "7",
			"service account": "4", "pat": "99", "request": "99",
		}
		targets[p.id] = target
		if p.mode == "" {
			continue
		}
		s.must(t, "admin", "POST projects", fmt.Sprintf(`{"id":%q,"name":%[1]q}`, p.id))
		owner := int64(1) // the Admin
		if p.id == "vault" {
			owner = ids["vault-owner"]
		}
		s.must(t, "admin", "PUT projects/"+p.id+"/access", fmt.Sprintf(`{"roles":[{"id":4,"users":[%d]}]}`, owner))
		s.must(t, "admin", "PUT projects/"+p.id+"/settings", fmt.Sprintf(`{"mode":%q}`, p.mode))
		for _, name := range []string{"flag", "old", "child"} {
			s.must(t, "admin", "POST projects/"+p.id+"/features", fmt.Sprintf(`{"name":"%s-%s"}`, p.id, name))
		}
		s.must(t, "admin", fill("POST projects/{project}/features/{child}/dependencies", target), fill(`{"feature":"{parent}"}`, target))
		s.must(t, "admin", fill("DELETE projects/{project}/features/{archived}", target), "")
		for _, environment := range []string{"development", "production"} {
			strategy := s.must(t, "admin", fill("POST projects/{project}/features/{toggle}/environments/"+environment+"/strategies", target),
				`{"name":"default"}`)
			target["strategy"] = fmt.Sprint(strategy["id"])
		}
		segment := s.must(t, "admin", "POST segments", fmt.Sprintf(`{"name":%q,"project":%[1]q,"constraints":[]}`, p.id))
		target["segment"] = fmt.Sprint(segment["id"])
		token := s.must(t, "admin", "POST api-tokens", fmt.Sprintf(`{"tokenName":%q,"type":"client","project":%[1]q}`, p.id))
		target["token"] = fmt.Sprint(token["secret"])
		if p.archived {
			s.must(t, "admin", fill("DELETE projects/{project}/features/{child}/dependencies/{parent}", target), "")
			s.must(t, "admin", fill("DELETE projects/{project}/features/{child}", target), "")
			s.must(t, "admin", fill("DELETE projects/{project}/features/{toggle}", target), "")
			s.must(t, "admin", "POST projects/archive/"+p.id, "")
		}
	}
	for _, request := range []string{
		fmt.Sprintf("PUT projects/vault/users/%d/roles?roles=5", ids["vault-member"]),
		fmt.Sprintf("PUT projects/vault/users/%d/roles?roles=6", ids["vault-reader"]),
		fmt.Sprintf("PUT projects/core/users/%d/roles?roles=5", ids["core-member"]),
		fmt.Sprintf("PUT projects/vault/users/%d/roles?roles=7", ids["deployer"]),
		fmt.Sprintf("PUT projects/core/users/%d/roles?roles=6,7", ids["deployer"]),
		"PUT projects/vault/groups/1/roles?roles=5",
	} {
		s.must(t, "admin", request, "")
	}
	s.must(t, "admin", fmt.Sprintf("PUT user-admin/%d/disabled", ids["disabled"]), `{"disabled":true}`)
	return []account{
		{name: "admin", root: everything, user: true},
		{name: "api-token", root: everything},
		{name: "editor", root: editorRoot, editor: true, user: true},
		{name: "editor-by-group", root: editorRoot, editor: true, user: true},
		{name: "neighbor", root: editorRoot, editor: true, user: true, roles: map[string]string{"island": ownerOf}},
		{name: "viewer", user: true},
		{name: "vault-owner", user: true, roles: map[string]string{"vault": ownerOf}},
		{name: "vault-member", user: true, roles: map[string]string{"vault": memberOf}},
		{name: "vault-reader", user: true, roles: map[string]string{"vault": ""}},
		{name: "grouped", user: true, roles: map[string]string{"vault": memberOf}},
		{name: "core-member", user: true, roles: map[string]string{"core": memberOf}},
		{name: "deployer", user: true, custom: []string{"vault", "core"}},
		{name: "founder", root: "CREATE_PROJECT UPDATE_SEGMENT", user: true},
		{name: "disabled", none: true},
		{name: "nobody-signed-in", none: true},
	}, targets
}
