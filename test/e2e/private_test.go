package e2e_test

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"toggleadmin/pkg/api/pat"
	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/delivery/usage"
	"toggleadmin/pkg/delivery/usagetable"
	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/local"
	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/test/helper/assert"
)

// marker is a part of everything in the private project of TestPrivateProject that has a name or a text. Random ids and
// tokens never contain a tilde.
const marker = "zq~"

// startWithoutEvents starts a service whose clock stands still, and which delivers no events.
func startWithoutEvents(t *testing.T) *service {
	t.Helper()
	s := &service{}
	s.clock.Store(time.Date(2026, 11, 20, 8, 30, 0, 0, time.UTC).Unix())
	s.run(t, local.Config{Now: func() time.Time { return time.Unix(s.clock.Load(), 0) }, RequestsOnly: true})
	return s
}

// must sends a request below /api/admin that succeeds, and returns its response.
func (s *service) must(t *testing.T, as, request, body string) map[string]any {
	t.Helper()
	status, response := s.send(t, strings.Replace(request, " ", " /api/admin/", 1), as, body)
	if status/100 != 2 {
		t.Fatalf("%s as %s: %d %s", request, as, status, response)
	}
	decoded := map[string]any{}
	if len(response) > 0 {
		assert.OK(t, json.Unmarshal(response, &decoded))
	}
	return decoded
}

// addPerson creates a person, whose token has the name of the person, and returns the person's id.
func (s *service) addPerson(t *testing.T, name string, rootRole int64) int64 {
	t.Helper()
	body := fmt.Sprintf(`{"email":"%s@example.com","name":%[1]q,"rootRole":%d}`, name, rootRole)
	id := int64(s.must(t, "admin", "POST user-admin", body)["id"].(float64)) //nolint:errcheck // a number
	client := s.client(t)
	_, token, err := pat.NewStore(client, s.tables, eventlog.Discard(client, time.Now), rand.Reader).Create(t.Context(),
		pat.PAT{UserID: id, Description: "attempts", ExpiresAt: time.Unix(s.clock.Load(), 0).AddDate(1, 0, 0)},
		pat.Owner{Kind: user.Person, Limit: pat.MostPerOwner})
	assert.OK(t, err)
	s.tokens[name] = token.Reveal()
	return id
}

// putPart stores a part of the usage of the running hour in production.
func (s *service) putPart(t *testing.T, kind usagetable.Kind, id string, content any) {
	t.Helper()
	item, err := usagetable.MarshalPart(usagetable.Part{
		Kind: kind, Hour: usage.HourOf(time.Unix(s.clock.Load(), 0).UTC()), Environment: "production", ID: id,
		WrittenAt: time.Unix(s.clock.Load(), 0).UTC(),
	}, content)
	assert.OK(t, err)
	s.put(t, usagetable.Table, item)
}

// put stores an item.
func (s *service) put(t *testing.T, table string, item dynamo.Item) {
	t.Helper()
	_, err := s.client(t).PutItem(t.Context(), &dynamodb.PutItemInput{TableName: new(s.tables[table]), Item: item})
	assert.OK(t, err)
}

// reports stores an application with the projects of its tokens, and that it used toggles and other names.
func (s *service) reports(t *testing.T, application string, projects, toggles, others []string) {
	t.Helper()
	at := time.Unix(s.clock.Load(), 0).UTC()
	s.put(t, usagetable.Table, usagetable.MarshalApplication(usagetable.Application{
		Name: application, CreatedAt: at, SeenAt: at, Projects: projects,
		Environments: map[string]usagetable.ApplicationInstance{"production": {SeenAt: at, Instances: 1}},
	}))
	tally := usage.NewTally()
	for _, name := range toggles {
		tally.Add(name, application, usage.Counts{Yes: 3, No: 4})
	}
	for _, name := range others {
		tally.AddUnknown(name, application, 5)
	}
	part := application + strings.Join(slices.Concat(toggles, others), "")
	s.putPart(t, usagetable.KindTally, part, tally)
	s.putPart(t, usagetable.KindPresence, part, usage.Presence{application: usage.Application{
		Projects: projects, Instances: map[string]usage.Instance{"instance-of-" + application: {SDK: "sdk:1", SeenAt: at}},
	}})
}

// outsiders are the accounts of TestPrivateProject without a role in the private project.
func outsiders() []string { return []string{"viewer", "editor", "neighbor"} }

// publicTarget is what attempts name that everybody sees.
func publicTarget() map[string]string {
	return map[string]string{
		"project": "shop", "toggle": "new-checkout", "environment": "production", "archived": "old-banner", "child": "child",
		"parent": "new-checkout", "segment": "1", "field": "plan", "tag": "none", "application": "public-app", "group": "1", "role": "1",
		"request": "1",
	}
}

// sweep sends requests that only read as some accounts, and returns the responses by the account and the request. The
// reads are all GET requests of attempts, with more parameters and resources.
func (s *service) sweep(t *testing.T, accounts ...string) map[string]string {
	t.Helper()
	var requests [][2]string
	for _, a := range attempts() {
		if strings.HasPrefix(a.request, "GET ") || strings.HasPrefix(a.request, "POST playground") {
			requests = append(requests, [2]string{a.request, a.body})
		}
	}
	for _, request := range []string{
		"client-metrics/features/new-checkout/raw?hoursBack=1", "client-metrics/features?feature=IS_ANY_OF:new-checkout,search-ranking", "metrics/applications?query=app",
		"metrics/applications?sortBy=lastSeenAt&sortOrder=desc&limit=1", "metrics/applications/all-app",
		"search/events?feature=IS:moved-away", "search/events?feature=IS:search-ranking", "search/events",
		"search/features", "search/features?archived=IS:true", "search/features?segment=IS_NONE_OF:Beta+customers",
		"search/features?contextField=IS:plan", "search/features?query=e&sortBy=project", "search/features?status=IS:production:enabled",
		"search/features/counts", "projects?archived=true", "projects?users=1,2,3,4,5,6,7,8,9&groups=1", "projects?roles=4", "user/roles", "roles?", "segments/1/strategies",
		"projects/default/features", "projects/default/overview", "environments/project/default", "user-admin/search?q=ida",
		"environments/development", "groups?",
	} {
		requests = append(requests, [2]string{"GET " + request})
	}
	responses := map[string]string{}
	for _, as := range accounts {
		target := publicTarget()
		target["strategy"] = s.tokens["strategy"]
		for _, r := range requests {
			request, body := fill(r[0], target), fill(r[1], target)
			status, response := s.send(t, strings.Replace(request, " ", " /api/admin/", 1), as, body)
			responses[as+": "+request] = fmt.Sprint(status, " ", withoutID(string(response)))
		}
	}
	return responses
}

// fill replaces the names in braces by values of a target.
func fill(text string, target map[string]string) string {
	for name, value := range target {
		text = strings.ReplaceAll(text, "{"+name+"}", value)
	}
	return text
}

var errorID = regexp.MustCompile(`"id":"[0-9a-f-]{36}"`)

// withoutID returns a response without the id of an error.
func withoutID(response string) string { return errorID.ReplaceAllString(response, `"id":""`) }

// fillPublic creates what everybody sees.
func (s *service) fillPublic(t *testing.T) {
	t.Helper()
	s.must(t, "admin", "POST context", `{"name":"plan","stickiness":true,"legalValues":[{"value":"free"},{"value":"paid"}]}`)
	s.must(t, "admin", "POST segments", `{"name":"Beta customers","constraints":[]}`)
	s.must(t, "admin", "POST projects/shop/features", `{"name":"child"}`)
	s.must(t, "admin", "POST projects/shop/features/child/dependencies", `{"feature":"new-checkout"}`)
	strategy := s.must(t, "admin", "POST projects/shop/features/new-checkout/environments/production/strategies",
		`{"name":"default","segments":[1],"constraints":[{"contextName":"plan","operator":"IN","values":["paid"]}]}`)
	s.tokens["strategy"] = strategy["id"].(string) //nolint:errcheck // a text
	s.must(t, "admin", "POST api-tokens", `{"tokenName":"public","type":"client","project":"shop","environment":"production"}`)
	s.must(t, "admin", "POST groups", fmt.Sprintf(`{"name":"everybody","users":[{"user":{"id":%d}}]}`, s.addPerson(t, "group-member", 3)))
	s.must(t, "admin", "PUT environments/production/freeze", `{"from":"2098-12-24T00:00:00Z","until":"2099-01-02T00:00:00Z",`+
		`"reason":"turn of the century"}`)
	s.reports(t, "public-app", []string{"shop"}, []string{"new-checkout"}, []string{"not-a-toggle"})
	s.reports(t, "all-app", []string{"*"}, []string{"new-checkout"}, nil)
}

// fillPrivate creates a private project of ida with everything that a project can have, and returns what attempts name.
func (s *service) fillPrivate(t *testing.T, ida int64) map[string]string {
	t.Helper()
	const project = marker + "project"
	features := "projects/" + project + "/features"
	s.must(t, "ida", "POST projects", `{"id":"`+project+`","name":"zq~ Project","description":"zq~ description","mode":"open"}`)
	s.must(t, "ida", "PUT projects/"+project+"/settings", `{"mode":"private","featureNaming":{"pattern":"zq~.*","example":"zq~x",`+
		`"description":"zq~"},"linkTemplates":[{"title":"zq~","urlTemplate":"https://zq~.example.com"}]}`)
	s.must(t, "admin", "PUT projects/"+project+"/groups/1/roles?roles=6", "")
	s.must(t, "ida", "PUT projects/"+project+"/environments/production/freeze", `{"from":"2098-12-24T00:00:00Z",`+
		`"until":"2099-01-02T00:00:00Z","reason":"zq~ reason"}`)
	constraint := `{"contextName":"plan","operator":"IN","values":["free"]},` +
		`{"contextName":"userId","operator":"IN","values":["zq~ value"]}`
	segment := s.must(t, "ida", "POST segments", `{"name":"zq~ Segment","description":"zq~","project":"`+project+`","constraints":[`+
		constraint+`]}`)
	segmentID := fmt.Sprint(segment["id"])
	for _, name := range []string{"on", "archived", "deleted", "child"} {
		s.must(t, "ida", "POST "+features, fmt.Sprintf(`{"name":"zq~%s","description":"zq~ text"}`, name))
	}
	s.must(t, "ida", "POST "+features+"/zq~child/dependencies", `{"feature":"zq~on"}`)
	strategy := s.must(t, "ida", "POST "+features+"/zq~on/environments/production/strategies",
		`{"name":"flexibleRollout","title":"zq~ title","constraints":[`+constraint+`],"parameters":{"stickiness":"plan","rollout":"50",`+
			`"groupId":"zq~group"},"segments":[1,`+segmentID+`],"variants":[{"name":"zq~variant","weight":1000,"weightType":"variable",`+
			`"stickiness":"plan","payload":{"type":"string","value":"zq~ payload"}}]}`)
	s.must(t, "ida", "POST "+features+"/zq~on/environments/production/on", "")
	s.must(t, "ida", "DELETE "+features+"/zq~archived", "")
	s.must(t, "ida", "DELETE "+features+"/zq~deleted", "")
	s.must(t, "ida", "DELETE archive/zq~deleted", "")
	// A toggle that everybody saw before it was moved.
	s.must(t, "admin", "POST projects/shop/features", `{"name":"zq~moved","description":"zq~ before"}`)
	s.must(t, "admin", "POST projects/shop/features/zq~moved/changeProject", `{"newProjectId":"`+project+`"}`)
	s.must(t, "admin", "POST projects/shop/features", `{"name":"zq~moveddeleted"}`)
	s.must(t, "admin", "POST projects/shop/features/zq~moveddeleted/changeProject", `{"newProjectId":"`+project+`"}`)
	s.must(t, "ida", "DELETE "+features+"/zq~moveddeleted", "")
	s.must(t, "ida", "DELETE archive/zq~moveddeleted", "")
	token := s.must(t, "admin", "POST api-tokens", `{"tokenName":"zq~ token","type":"client","project":"`+project+
		`","environment":"production"}`)
	request := s.must(t, "ida", "POST projects/"+project+"/environments/production/change-requests",
		`{"feature":"zq~on","action":"updateEnabled","payload":{"enabled":false}}`)
	s.must(t, "ida", "POST projects", `{"id":"zq~archivedproject","name":"zq~ Archived","mode":"private"}`)
	s.must(t, "ida", "POST projects/archive/zq~archivedproject", "")

	s.must(t, "ida", "POST features/zq~on/tags", `{"type":"simple","value":"zq~tag"}`)
	s.must(t, "ida", "POST projects/"+project+"/code-references",
		`{"repository":"zq~code","references":[{"path":"a","line":1,"toggle":"zq~on"}]}`)

	// Applications: one with a token of the project, one with a token for all projects that uses only its toggles, and one
	// that everybody sees.
	s.reports(t, "zq~app", []string{project}, []string{"zq~on", "new-checkout"}, []string{"zq~unknown", "not-a-toggle"})
	s.reports(t, "zq~allapp", []string{"*"}, []string{"zq~on", "zq~archived"}, []string{"zq~deleted"})
	s.reports(t, "all-app", []string{"*"}, []string{"zq~on", "zq~moved"}, []string{"zq~deleted", "zq~moveddeleted"})
	s.reports(t, "public-app", []string{"shop"}, nil, []string{"zq~archived", "zq~deleted"})
	s.reports(t, "public-app", []string{"shop"}, []string{"zq~deleted"}, nil)
	return map[string]string{
		"project": project, "toggle": "zq~on", "archived": "zq~archived", "child": "zq~child", "parent": "zq~on",
		"destination": "shop", "environment": "production", "segment": segmentID, "field": "plan", "tag": "zq~tag",
		"application": "zq~app", "token": fmt.Sprint(token["secret"]), "strategy": fmt.Sprint(strategy["id"]), "account": fmt.Sprint(ida),
		"group": "1", "role": "1", "service account": "4", "pat": "1", "request": fmt.Sprint(request["id"]),
	}
}

// TestPrivateProject compares what accounts without a role in a private project read before the project exists and
// afterwards: all of it stays the same, numbers included. Requests that name something of the project have the same
// responses as requests that name something that does not exist.
func TestPrivateProject(t *testing.T) { //nolint:tparallel // the parts of the test follow one another
	t.Parallel()
	s := startWithoutEvents(t)
	s.fillPublic(t)
	ida := s.addPerson(t, "ida", 2)
	s.addPerson(t, "neighbor", 2)
	s.must(t, "neighbor", "POST projects", `{"id":"island","name":"Island","mode":"private"}`)
	before := s.sweep(t, outsiders()...)
	private := s.fillPrivate(t, ida)
	t.Run("reads", func(t *testing.T) {
		after := s.sweep(t, outsiders()...)
		for _, request := range slices.Sorted(maps.Keys(before)) {
			if after[request] != before[request] {
				t.Errorf("%s:\n before %s\n  after %s", request, before[request], after[request])
			}
		}
	})
	t.Run("names", func(t *testing.T) {
		contents := s.contents(t)
		s.requireSameAsMissing(t, private)
		requireSame(t, contents, s.contents(t))
	})
	t.Run("insiders", func(t *testing.T) { s.requireFound(t, private) })
	t.Run("in use", func(t *testing.T) { s.requireNoNumbers(t) })
	t.Run("taken", func(t *testing.T) { s.requireTaken(t, private) })
	t.Run("shared", func(t *testing.T) { s.requireNoMarker(t, private) })
}

// requireSameAsMissing sends each attempt that names something of the private project, and the same with a name that
// does not exist.
func (s *service) requireSameAsMissing(t *testing.T, private map[string]string) {
	t.Helper()
	missing := maps.Clone(private)
	for name, value := range missing {
		missing[name] = strings.ReplaceAll(value, marker, "zq8")
	}
	missing["segment"], missing["strategy"] = "77", "00000000-0000-4000-8000-000000000000"
	toMissing := strings.NewReplacer(marker, "zq8", `\"`+private["segment"]+`\"`, `\"77\"`, "id "+private["segment"], "id 77",
		`"id":`+private["segment"]+`,`, `"id":77,`,
		private["strategy"], missing["strategy"])
	requests := attempts()
	for i, more := range []attempt{
		{"GET client-metrics/features/zq~deleted", "", ""},
		{"GET client-metrics/features/zq~moveddeleted/raw", "", ""},
		{"GET client-metrics/features/zq~unknown", "", ""},
		{"GET metrics/applications/zq~allapp", "", ""},
		{"GET metrics/applications?query=zq~", "", ""},
		{"GET search/events?feature=IS:zq~deleted", "", ""},
		{"GET search/events?feature=IS:zq~moved", "", ""},
		{"GET search/events?feature=IS:zq~moveddeleted", "", ""},
		{"GET search/events?feature=IS:new-checkout&query=zq~", "", ""},
		{"GET search/features?segment=IS:zq~+Segment", "", ""},
		{"GET search/features?query=zq~", "", ""},
		{"GET projects/zq~archivedproject/overview", "", ""},
		{"POST playground/advanced", `{"environments":["production"],"projects":["zq~project"],"context":{}}`, ""},
		{"POST projects/shop/features/new-checkout/changeProject", `{"newProjectId":"{project}"}`, ""},
		{"POST projects/shop/features/new-checkout/dependencies", `{"feature":"zq~on"}`, ""},
		{"POST projects/shop/features/zq~on/environments/production/on", "", ""},
		{"DELETE projects/shop/features/zq~on", "", ""},
		{"POST projects/shop/stale", `{"features":["search-ranking","zq~on"],"stale":true}`, ""},
		{"POST projects/shop/bulk_features/environments/production/off", `{"features":["search-ranking","zq~on"]}`, ""},
		{"PUT projects/shop/features/new-checkout/environments/production/strategies/{strategy}", `{"title":"a"}`, ""},
		{"POST projects/shop/features/search-ranking/environments/production/strategies", `{"name":"default","segments":[{segment}]}`, ""},
		{"PUT segments/1", `{"project":"{project}"}`, ""},
		{"POST archive/revive/zq~deleted", "", ""},
	} {
		requests[fmt.Sprint("more ", i)] = more
	}
	for _, as := range outsiders() {
		for _, operation := range slices.Sorted(maps.Keys(requests)) {
			a := requests[operation]
			hidden, unknown := fill(a.request, private), toMissing.Replace(fill(a.request, missing))
			hiddenBody, unknownBody := fill(a.body, private), toMissing.Replace(fill(a.body, missing))
			if hidden+hiddenBody == unknown+unknownBody {
				continue
			}
			status, response := s.send(t, strings.Replace(hidden, " ", " /api/admin/", 1), as, hiddenBody)
			got := fmt.Sprint(status, " ", toMissing.Replace(withoutID(string(response))))
			status, response = s.send(t, strings.Replace(unknown, " ", " /api/admin/", 1), as, unknownBody)
			if want := fmt.Sprint(status, " ", withoutID(string(response))); got != want {
				t.Errorf("%s: %s %s:\n  hidden %s\n missing %s", as, hidden, hiddenBody, got, want)
			}
		}
	}
}

// requireFound requires that those who see the project read everything that the test has put into it: otherwise nothing
// is compared.
func (s *service) requireFound(t *testing.T, private map[string]string) {
	t.Helper()
	all := ""
	for _, operation := range slices.Sorted(maps.Keys(attempts())) {
		a := attempts()[operation]
		if !strings.HasPrefix(a.request, "GET ") && !strings.HasPrefix(a.request, "POST playground") {
			continue
		}
		status, response := s.send(t, strings.Replace(fill(a.request, private), " ", " /api/admin/", 1), "admin", fill(a.body, private))
		if status != http.StatusOK && operation != "get-service-account-token" {
			t.Errorf("%s: %d %s", operation, status, response)
		}
		all += string(response)
	}
	for _, text := range []string{"project", " Project", " description", ".*", " Segment", " text", " title", " value", "group",
		"variant", " payload", " token", "archived", "child", "app", "allapp", "unknown", "deleted", "moved", "on", " reason", "tag", "code"} {
		if !strings.Contains(all, marker+text) {
			t.Errorf("an Admin reads nothing with %q", marker+text)
		}
	}
}

// requireNoNumbers requires that the texts about what is in use contain neither names nor numbers of the private project:
// an Admin who deletes what everybody uses gets other ones than an Editor.
func (s *service) requireNoNumbers(t *testing.T) {
	t.Helper()
	s.must(t, "admin", "POST context", `{"name":"hidden-only","legalValues":[{"value":"a"},{"value":"b"}]}`)
	s.must(t, "admin", "POST segments", `{"name":"hidden-only","constraints":[]}`)
	segments := s.must(t, "admin", "GET segments", "")["segments"].([]any) //nolint:errcheck // a list
	last := segments[len(segments)-1].(map[string]any)["id"]               //nolint:errcheck // an object
	s.must(t, "ida", "POST projects/zq~project/features/zq~on/environments/development/strategies", fmt.Sprintf(
		`{"name":"default","segments":[%v],"constraints":[{"contextName":"hidden-only","operator":"IN","values":["a"]}]}`, last))
	for _, test := range []struct{ request, body string }{
		{"DELETE context/hidden-only", ""},
		{"PUT context/hidden-only", `{"legalValues":[{"value":"b"}]}`},
		{fmt.Sprint("DELETE segments/", last), ""},
	} {
		status, response := s.send(t, strings.Replace(test.request, " ", " /api/admin/", 1), "editor", test.body)
		var e struct{ Message string }
		assert.OK(t, json.Unmarshal(response, &e))
		if status != http.StatusConflict || strings.ContainsAny(e.Message, "0123456789") || strings.Contains(e.Message, marker) ||
			!strings.Contains(e.Message, "in use") {
			t.Errorf("%s: %d %s", test.request, status, response)
		}
	}
	// Of two toggles that use the field plan, an Editor sees one. The toggle of the private project uses it twice.
	for _, test := range []struct{ request, body string }{
		{"DELETE context/plan", ""},
		{"PUT context/plan", `{"stickiness":true,"legalValues":[{"value":"other"}]}`},
		{"PUT context/plan", `{"stickiness":false,"legalValues":[{"value":"free"},{"value":"paid"}]}`},
		{"DELETE segments/1", ""},
	} {
		_, response := s.send(t, strings.Replace(test.request, " ", " /api/admin/", 1), "editor", test.body)
		_, ofAdmin := s.send(t, strings.Replace(test.request, " ", " /api/admin/", 1), "admin", test.body)
		if withoutID(string(response)) == withoutID(string(ofAdmin)) || strings.Contains(string(response), marker) {
			t.Errorf("%s: %s\nAdmin: %s", test.request, response, ofAdmin)
		}
	}
}

// requireTaken requires that a name of something hidden is taken, and that the text repeats only what was sent.
func (s *service) requireTaken(t *testing.T, private map[string]string) {
	t.Helper()
	for _, test := range []struct{ request, body, sent string }{
		{"POST projects/shop/features", `{"name":"zq~on"}`, "zq~on"},
		{"POST projects/shop/features/new-checkout/clone", `{"name":"zq~archived"}`, "zq~archived"},
		{"POST segments", `{"name":"ZQ~ SEGMENT","constraints":[]}`, "ZQ~ SEGMENT"},
		{"PUT segments/1", `{"name":"ZQ~ SEGMENT"}`, "ZQ~ SEGMENT"},
		{"POST projects", `{"id":"ZQ~PROJECT","name":"a"}`, "ZQ~PROJECT"},
		{"POST projects/validate", `{"id":"ZQ~archivedproject"}`, "ZQ~archivedproject"},
	} {
		status, response := s.send(t, strings.Replace(test.request, " ", " /api/admin/", 1), "editor", test.body)
		rest := strings.ReplaceAll(withoutID(string(response)), test.sent, "")
		if status != http.StatusConflict || strings.Contains(strings.ToLower(rest), marker) ||
			strings.Contains(rest, strconv.Quote(private["segment"])) {
			t.Errorf("%s %s: %d %s", test.request, test.body, status, response)
		}
	}
}

// requireNoMarker requires that what everybody sees contains nothing of the private project if it uses something of it:
// a segment, or a client token with another project.
func (s *service) requireNoMarker(t *testing.T, private map[string]string) {
	t.Helper()
	s.must(t, "admin", "POST projects/shop/features/new-checkout/environments/production/strategies",
		`{"name":"default","segments":[`+private["segment"]+`]}`)
	s.must(t, "admin", "POST api-tokens", `{"tokenName":"both","type":"client","projects":["shop","zq~project"],"environment":"production"}`)
	s.reports(t, "public-app", []string{"shop", "zq~project"}, []string{"zq~on"}, nil)
	// A toggle that leaves the project is seen, what happened in it is not.
	s.must(t, "admin", "POST projects/shop/features", `{"name":"moved-away"}`)
	for _, move := range []string{"shop zq~project", "zq~project shop"} {
		from, to, _ := strings.Cut(move, " ")
		if to == "zq~project" {
			s.must(t, "admin", "PUT projects/zq~project/settings", `{"featureNaming":null}`)
		}
		s.must(t, "admin", "POST projects/"+from+"/features/moved-away/changeProject", `{"newProjectId":"`+to+`"}`)
	}
	for request, response := range s.sweep(t, outsiders()...) {
		if strings.Contains(strings.ToLower(response), marker) {
			t.Errorf("%s: %s", request, response)
		}
	}
	status, response := s.send(t, "GET /api/admin/search/features?segment=IS:zq~+Segment", "viewer", "")
	assert.Equal(t, `200 {"features":[],"total":0}`, fmt.Sprint(status, " ", string(response)))
}
