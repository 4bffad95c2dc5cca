package unleash_test

import (
	"compress/gzip"
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/operator/exitstatus"
	"toggleadmin/pkg/operator/transfer"
	"toggleadmin/pkg/operator/unleash"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/toggle"
	"toggleadmin/test/helper/assert"
)

// server responds as Unleash 8.2.0 does, as test/unleash shows.
type server struct {
	mu       sync.Mutex
	searches int // allowed until the next wait
	waits    []time.Duration
	requests []string
	first    int // the number of the first toggle, which rises if that is deleted
	active   int // toggles
	changes  int // how often the first toggle is deleted while all are read
}

// responses are those of paths whose response does not change.
var responses = map[string]string{
	"/base/api/admin/feature-types": `{"version":1,"types":[{"id":"release","name":"Release","description":"d","lifetimeDays":40}]}`,
	"/base/api/admin/context": `[{"name":"plan","description":"","stickiness":true,"sortOrder":3,"legalValues":[{"value":"a"}],
		"createdAt":"2020-01-01T00:00:00.000Z"}]`,
	"/base/api/admin/environments": `{"version":1,"environments":[{"name":"development","type":"development","sortOrder":2,
		"enabled":true,"protected":false}]}`,
	"/base/api/admin/projects/shop/features/old": `{"dependencies":[{"feature":"parent","enabled":true,"variants":["v"]}]}`,
	"/base/api/admin/segments": `{"segments":[{"id":2,"name":" Beta ","description":"","createdBy":"admin",
		"createdAt":"2020-01-01T00:00:00.000Z","constraints":[{"contextName":"plan","operator":"IN","values":["a"]}],
		"usedInFeatures":1}]}`,
	"/base/api/admin/projects/shop/features/old/environments/development/strategies": `[
		{"id":"01A","name":"flexibleRollout","title":"half","disabled":true,"sortOrder":9999999999,
			"constraints":[{"contextName":"plan","operator":"IN","values":["a"],"value":"","inverted":true}],
			"parameters":{"stickiness":"default","rollout":5,"groupId":null,"flag":true},
			"variants":[{"name":"v","weight":1000,"weightType":"variable","stickiness":"default",
				"payload":{"type":"string","value":"x"},"overrides":[{"contextName":"userId","values":["7"]}]}],
			"segments":[2]},
		{"name":"custom","disabled":null}]`,
}

// archived is the response to a search for archived toggles.
const archived = `{"features":[{"name":"old","type":"kill-switch","project":"shop","description":"","stale":true,
	"createdAt":"2020-01-01T00:00:00.000Z","archivedAt":"2021-01-01T00:00:00.000Z","impressionData":true,
	"createdBy":{"id":0,"name":"unknown"},"dependencyType":"child","environments":[{"name":"development","enabled":true,"hasStrategies":true,"variantCount":0,
		"lastSeenAt":"2020-12-24T18:00:00.000Z"},{"name":"production","lastSeenAt":null,"hasStrategies":false,"variantCount":0}]}],"total":1}`

// ServeHTTP implements http.Handler.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, r.URL.RequestURI())
	response := responses[r.URL.Path]
	switch {
	case r.Header.Get("Authorization") != "user:secret":
		w.WriteHeader(http.StatusUnauthorized)
	case response != "":
		respond(w, response)
	case r.URL.Path == "/base/api/admin/search/features":
		s.search(w, r)
	default:
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprint(w, "<html>")
	}
}

func respond(w http.ResponseWriter, body string) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	fmt.Fprint(w, body)
}

func (s *server) search(w http.ResponseWriter, r *http.Request) {
	if s.searches == 0 {
		w.Header().Set("Retry-After", "42")
		http.Error(w, "Too many requests, please try again later.", http.StatusTooManyRequests)
		return
	}
	s.searches--
	if r.FormValue("project") == "IS:other" {
		respond(w, `{"features":[{"name":"a","type":"release","project":"other"}],"total":1}`)
		return
	}
	if r.FormValue("project") != "" {
		respond(w, `{"features":[],"total":0}`)
		return
	}
	if r.FormValue("archived") == "IS:true" {
		respond(w, archived)
		return
	}
	offset, _ := strconv.Atoi(r.FormValue("offset"))
	var page []string
	for n := s.first + offset; n < s.first+min(offset+100, s.active); n++ {
		page = append(page, fmt.Sprintf(`{"name":"t%d","type":"release","project":"default","description":null,"stale":false,
			"createdAt":"2020-01-01T00:00:00.000Z","archivedAt":null,"createdBy":{"name":"Ada"},"environments":[{"name":null}]}`,
			n))
	}
	respond(w, fmt.Sprintf(`{"features":[%s],"total":%d}`, strings.Join(page, ","), s.active))
	if offset > 0 && s.changes > 0 {
		s.changes--
		s.first++
		s.active--
	}
}

// read reads from the server, and counts what it waits.
func (s *server) read(t *testing.T, path, token, project string) (transfer.Document, error) {
	t.Helper()
	service := httptest.NewServer(s)
	t.Cleanup(service.Close)
	return unleash.Read(t.Context(), unleash.Config{
		URL: service.URL + path, Token: token, HTTP: service.Client(), Progress: func(string, int, int) {},
		Wait: func(ctx context.Context, d time.Duration) error {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.waits, s.searches = append(s.waits, d), 2
			return ctx.Err()
		},
	}, project)
}

func TestRead(t *testing.T) {
	t.Parallel()
	s := &server{searches: 2, active: 250}
	d, err := s.read(t, "/base/", "user:secret", "")
	if err != nil || len(d.Features) != 251 {
		t.Fatalf("%d toggles, %v", len(d.Features), err)
	}
	d.Features = d.Features[249:]
	assert.JSON(t, "testdata/read.json", d)
	assert.Equal(t, map[string][]string{}, d.Losses)
	assert.Equal(t, map[string]map[string]string{"old": {"development": "2020-12-24T18:00:00.000Z"}}, d.LastSeen)
	assert.Equal(t, []time.Duration{42 * time.Second}, s.waits)
	if !slices.Contains(s.requests, "/base/api/admin/context?include=project") {
		t.Errorf("requests: %v", s.requests)
	}
}

// A toggle that is deleted while the pages are read moves others to earlier pages, so that they are missed: all are
// read again.
func TestTogglesChangeMeanwhile(t *testing.T) {
	t.Parallel()
	s := &server{searches: 100, active: 250, changes: 1}
	if d, err := s.read(t, "/base", "user:secret", ""); err != nil || len(d.Features) != 250 { // 249, and an archived one
		t.Errorf("%d toggles, %v", len(d.Features), err)
	}
	s = &server{searches: 100, active: 250, changes: 100}
	if _, err := s.read(t, "/base", "user:secret", ""); err == nil ||
		!strings.Contains(err.Error(), "change while they are read") {
		t.Error(err)
	}
}

func TestIsPlain(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]bool{
		"https://unleash.example.com": false, "http://localhost:4242": false, "http://127.0.0.2": false, "http://[::1]:1": false,
		"http://unleash.example.com": true, "http://10.0.0.1:4242": true, "http://localhost.example.com": true,
	} {
		if got := unleash.IsPlain(url); got != want {
			t.Errorf("%s: %t", url, got)
		}
	}
}

func TestReadFails(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		path    string
		token   string
		project string
		err     string // a part of it
		status  exitstatus.Status
	}{
		{"/wrong", "user:secret", "", "does not respond with JSON: --url must be the URL of an Unleash", 6},
		{"/base", "user:other", "", "Unleash rejects the token", 4},
		{"?a=b", "user:secret", "", "is not the URL of an Unleash", 2},
		{"/base", "user:secret", "other", "is not Unleash: its toggles have no environments", 2},
		{"/base", "user:secret", "none", `Unleash has no project "none" with toggles`, 1},
	} {
		s := &server{searches: 10}
		_, err := s.read(t, test.path, test.token, test.project)
		assert.Equal(t, test.status, exitstatus.Of(err))
		if !strings.Contains(err.Error(), test.err) || strings.Contains(err.Error(), test.token) {
			t.Errorf("%+v: %v", test, err)
		}
	}
}

// answers are the responses of an Unleash that ignores all parameters, as old versions ignore those that they do not
// know.
type answers map[string]string

// ServeHTTP implements http.Handler.
func (a answers) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, ok := a[strings.TrimPrefix(r.URL.Path, "/api/admin/")]
	if !ok {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	respond(w, body)
}

// with returns the answers with others added.
func (a answers) with(more answers) answers {
	all := maps.Clone(a)
	maps.Copy(all, more)
	return all
}

// empty is an Unleash without toggles.
var empty = answers{
	"feature-types":   `{"types":[]}`,
	"context":         `[]`,
	"environments":    `{"environments":[]}`,
	"search/features": `{"features":[],"total":0}`,
}

// readFrom reads from a server, and returns the waits too.
func readFrom(t *testing.T, h http.Handler, project string) (d transfer.Document, waits []time.Duration, err error) {
	t.Helper()
	service := httptest.NewServer(h)
	t.Cleanup(service.Close)
	d, err = unleash.Read(t.Context(), unleash.Config{
		URL: service.URL, Token: "user:secret", Progress: func(string, int, int) {},
		HTTP: &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}, // otherwise it repeats requests itself
		Wait: func(ctx context.Context, d time.Duration) error {
			waits = append(waits, d)
			return ctx.Err()
		},
	}, project)
	return d, waits, err
}

// Versions before 6.4 ignore the parameter archived of the search, and have a list of archived toggles, which does not
// say in which environments they are.
func TestOldVersion(t *testing.T) {
	t.Parallel()
	old := empty.with(answers{
		"search/features": `{"features":[{"name":"live","project":"default","type":"release","createdAt":"2024-01-01T00:00:00.000Z",
			"environments":[{"name":"development","hasStrategies":false,"variantCount":0}]}],"total":1}`,
		"archive/features": `{"version":2,"features":[
			{"name":"gone","project":"default","type":"release","stale":true,
				"createdAt":"2023-01-01T00:00:00.000Z","archivedAt":"2024-02-01T00:00:00.000Z"},
			{"name":"other","project":"other","type":"release",
				"createdAt":"2023-01-01T00:00:00.000Z","archivedAt":"2024-02-01T00:00:00.000Z"}]}`,
		"environments": `{"version":1,"environments":[{"name":"development","enabled":true},{"name":"production"}]}`,
		"projects/default/features/gone/environments/development/strategies": `[{"name":"default"}]`,
		"projects/default/features/gone/environments/development/variants":   `{"variants":[]}`,
	})
	d, _, err := readFrom(t, old, "default")
	assert.OK(t, err)
	created, live, archived := "2023-01-01T00:00:00.000Z", "2024-01-01T00:00:00.000Z", "2024-02-01T00:00:00.000Z"
	assert.Equal(t, []toggle.FeatureJSON{
		{Name: "live", Project: "default", Type: "release", CreatedAt: &live,
			Environments: map[string]toggle.Environment{"development": {}}},
		{Name: "gone", Project: "default", Type: "release", Stale: true, CreatedAt: &created, Archived: true,
			ArchivedAt: &archived, Environments: map[string]toggle.Environment{"development": {
				Strategies: []toggle.Strategy{{Name: "default", Parameters: map[string]string{}}},
			}}},
	}, d.Features)

	// If all toggles are archived, the search finds none, as if it had obeyed.
	old["search/features"] = empty["search/features"]
	d, _, err = readFrom(t, old, "")
	assert.OK(t, err)
	assert.Equal(t, []string{"gone", "other"}, names(d))

	d, _, err = readFrom(t, empty, "") // a version that obeys has no such list
	assert.OK(t, err)
	assert.Equal(t, []string(nil), names(d))
}

func names(d transfer.Document) (names []string) {
	for _, f := range d.Features {
		names = append(names, f.Name)
	}
	return names
}

// A server that ignores a parameter, or is none of Unleash, is not taken for one that obeys.
func TestIgnoredParameters(t *testing.T) {
	t.Parallel()
	found := func(name, more string) string {
		return `{"name":"` + name + `","type":"release","createdAt":"2024-01-01T00:00:00.000Z","environments":[]` + more + `}`
	}
	var hundred []string
	for n := range 100 {
		hundred = append(hundred, found(fmt.Sprint("t", n), ""))
	}
	search := func(total string, toggles ...string) answers {
		return answers{"search/features": `{"features":[` + strings.Join(toggles, ",") + `]` + total + `}`}
	}
	for _, row := range []struct {
		project string
		more    answers
		want    string
	}{
		{"shop", search(`,"total":1`, found("a", `,"project":"other"`)), "does not select the toggles of a project"},
		{"", search(`,"total":250`, hundred...), "returns the same toggles again for the next page"},
		{"", search("", found("a", "")), "does not return the number of toggles"},
		{"", search(`,"total":1`, found("a", `,"archivedAt":"2024-01-01T00:00:00.000Z"`)),
			"does not say which toggles are archived"},
		{"", empty.with(answers{"archive/features": `{"features":[` + found("a", "") + `]}`,
			"environments": `{"environments":[]}`}), "does not say which toggles are archived"},
		{"", search(`,"total":1`, found("a", `,"potentiallyStaleAt":null`)), "but an installation of this service"},
	} {
		_, _, err := readFrom(t, empty.with(row.more), row.project)
		if err == nil || !strings.Contains(err.Error(), row.want) {
			t.Errorf("want %q, got %v", row.want, err)
		}
	}
}

// The variants of an environment without strategies belong to a strategy that holds for everybody. One that gives a
// variant to all of them comes first.
func TestVariantsWithoutStrategies(t *testing.T) {
	t.Parallel()
	d, _, err := readFrom(t, empty.with(answers{
		"search/features":  `{"features":[],"total":0}`,
		"environments":     `{"environments":[{"name":"development","hasStrategies":false,"variantCount":1}]}`,
		"archive/features": `{"features":[{"name":"v","project":"default","archivedAt":"2024-02-01T00:00:00.000Z"}]}`,
		"projects/default/features/v/environments/development/variants": `{"variants":[
			{"name":"a","weight":500,"overrides":[{"contextName":"region","values":["eu"," us ",""]}]},
			{"name":"b","weight":500,"weightType":"fix"}]}`,
	}), "")
	assert.OK(t, err)
	assert.Equal(t, map[string][]string{"v": {"its variants in development were put into its strategies"}}, d.Notes)
	assert.JSON(t, "testdata/without-strategies.json", d.Features[0].Environments)
}

// What an import does not take over is counted. A kind that a version does not have is left out, and one that the token
// may not read has no number.
func TestOthers(t *testing.T) {
	t.Parallel()
	d, _, err := readFrom(t, forbidden{empty.with(answers{
		"search/features": `{"features":[{"name":"a","project":"default","type":"release","archivedAt":null,
			"tags":[{"type":"simple","value":"x"},{"type":"simple","value":"y"}],` + staging + `}],"total":1}`,
		"tag-types":                   `{"tagTypes":[{"name":"simple"},{"name":"team"}]}`,
		"strategies":                  `{"strategies":[{"name":"default","editable":false},{"name":"own","editable":true}]}`,
		"api-tokens":                  `{"tokens":[{},{},{}]}`,
		"addons":                      `{"addons":[]}`,
		"search/events":               `{"events":[{}],"total":12}`,
		"projects/default/features/a": `{"links":[{"id":"L1","url":"https://example.com","title":""}]}`,
	})}, "")
	assert.OK(t, err)
	assert.Equal(t, []toggle.Link{{ID: "L1", URL: "https://example.com"}}, d.Features[0].Links)
	numbers := map[string]string{}
	for _, o := range d.Others {
		numbers[o.Kind] = "unknown"
		if o.Number != nil {
			numbers[o.Kind] = fmt.Sprint(*o.Number)
		}
	}
	assert.Equal(t, map[string]string{
		"custom strategy types": "1", "API tokens": "3", "groups": "unknown", "events": "12",
	}, numbers)
	// Archived toggles alone are a 404.
	assert.Equal(t, map[string][]string{
		"child": {"its dependency was not imported: Unleash does not show those of archived toggles"},
	}, d.Notes)
	assert.Equal(t, true, d.Complete)
	assert.Equal(t, []transfer.TagType{{Name: "simple"}, {Name: "team"}}, d.TagTypes)
	assert.Equal(t, []toggle.Tag{{Type: "simple", Value: "x"}, {Type: "simple", Value: "y"}}, d.Features[0].Tags)
	assert.Equal(t, []transfer.Environment{{Name: "staging", Type: "test", SortOrder: 3}}, d.Unlisted)
}

// People, groups, custom roles and the access to projects are read with the names of what they refer to.
func TestAccess(t *testing.T) {
	t.Parallel()
	const ada, ci = `{"id":2,"name":"Ada","username":"ada","email":"Ada@example.com","rootRole":2}`, `{"id":3,"username":"ci"}`
	d, _, err := readFrom(t, empty.with(answers{
		"search/features":  `{"features":[],"total":0}`,
		"archive/features": `{"features":[]}`,
		"projects":         `{"projects":[{"id":"shop","name":"Shop"},{"id":"web","name":"Web"}]}`,
		"roles": `{"roles":[{"id":1,"name":"Admin","type":"root"},{"id":2,"name":"Editor","type":"root"},
			{"id":4,"name":"Owner","type":"project"},{"id":9,"name":"Releaser","type":"custom","description":"d"}]}`,
		"roles/9": `{"id":9,"name":"Releaser","type":"custom","permissions":[{"id":7,"name":"UPDATE_FEATURE","environment":""},
			{"id":28,"name":"UPDATE_FEATURE_ENVIRONMENT","environment":"production"}]}`,
		"user-admin": `{"users":[{"id":1,"username":"admin","email":null,"rootRole":1},` + ada + `],"rootRoles":[]}`,
		"groups": `{"groups":[{"id":5,"name":"Payments","description":"","mappingsSSO":["pay"],"rootRole":2,
			"users":[{"user":` + ada + `},{"user":` + ci + `}]},{"id":6,"name":"Empty","rootRole":null}]}`,
		"projects/shop/access": `{"users":[{"id":2,"email":"ada@example.com","roles":[4,9],"roleId":4}],
			"groups":[{"id":5,"name":"Payments","roleId":4}]}`,
		"projects/web/access": `{"users":[{"id":3,"username":"ci","roles":[99]}],"groups":[]}`,
	}), "")
	assert.OK(t, err)
	assert.JSON(t, "testdata/access.json", transfer.Document{
		Accounts: d.Accounts, Roles: d.Roles, Groups: d.Groups, Projects: d.Projects,
	})
}

// Open-source Unleash lists roles only beside people.
func TestRolesOfPeople(t *testing.T) {
	t.Parallel()
	d, _, err := readFrom(t, empty.with(answers{
		"archive/features": `{"features":[]}`,
		"user-admin": `{"users":[{"id":2,"name":"Eve","email":"eve@example.com","rootRole":2}],
			"rootRoles":[{"id":1,"name":"Admin","type":"root"},{"id":2,"name":"Editor","type":"root"}]}`,
	}), "")
	assert.OK(t, err)
	assert.Equal(t, []transfer.Account{
		{Kind: user.Person, Name: "Eve", Email: new("eve@example.com"), Role: "Editor"},
	}, d.Accounts)
}

// Projects are read with archived ones, which old versions list with the others.
func TestProjects(t *testing.T) {
	t.Parallel()
	h := empty.with(answers{
		"search/features":  `{"features":[],"total":0}`,
		"archive/features": `{"features":[]}`,
		"projects": `{"projects":[{"id":"default","name":"Default","description":"","mode":"open"},
			{"id":"shop","name":"Shop","description":"Sells","mode":"private","defaultStickiness":"userId",
			"createdAt":"2020-01-01T00:00:00.000Z","archivedAt":"2021-01-01T00:00:00.000Z"}]}`,
	})
	shop := transfer.Project{
		ID: "shop", Name: "Shop", Description: new("Sells"), Mode: access.Private, DefaultStickiness: "userId",
		CreatedAt: new("2020-01-01T00:00:00.000Z"), ArchivedAt: new("2021-01-01T00:00:00.000Z"), Partial: true,
	}
	d, _, err := readFrom(t, h, "")
	assert.OK(t, err)
	assert.Equal(t, []transfer.Project{
		{ID: "default", Name: "Default", Mode: access.Open, DefaultStickiness: "default", Partial: true}, shop,
	}, d.Projects)
	d, _, err = readFrom(t, h, "shop")
	assert.OK(t, err)
	assert.Equal(t, []transfer.Project{shop}, d.Projects)
}

// The overview of a project has its environments, the naming of its toggles and its links, and another operation of
// Unleash Enterprise its protected environments. A project with all
// environments that Unleash lists, or that toggles name, has all.
func TestOverviews(t *testing.T) {
	t.Parallel()
	d, _, err := readFrom(t, empty.with(answers{
		"search/features": `{"features":[{"name":"a","project":"all","type":"release","createdAt":"2024-01-01T00:00:00.000Z",
			"environments":[{"name":"staging","hasStrategies":false,"variantCount":0}]}],"total":1}`,
		"archive/features": `{"features":[]}`,
		"environments":     `{"environments":[{"name":"development"},{"name":"production"}]}`,
		"projects":         `{"projects":[{"id":"all"},{"id":"some"},{"id":"none"},{"id":"unknown"}]}`,
		"projects/all/overview": `{"environments":[{"environment":"development"},{"environment":"production"},
			{"environment":"staging"},{"environment":"qa"}],"featureNaming":{"pattern":"","example":"","description":null}}`,
		"projects/some/overview": `{"environments":[{"environment":"development","defaultStrategy":null},
			{"environment":"staging"}],"featureNaming":{"pattern":"some-.+","example":"some-a","description":null},
			"linkTemplates":[{"title":"","urlTemplate":"https://example.com/{{feature}}"}]}`,
		"projects/none/overview": `{"environments":[]}`,
		"projects/some/change-requests/config": `[
			{"environment":"development","type":"development","changeRequestEnabled":false,"requiredApprovals":null},
			{"environment":"staging","type":"test","changeRequestEnabled":true,"requiredApprovals":2}]`,
	}), "")
	assert.OK(t, err)
	project := func(id string) transfer.Project {
		return transfer.Project{ID: id, Name: id, Mode: access.Open, DefaultStickiness: "default"}
	}
	some, none, unknown := project("some"), project("none"), project("unknown")
	some.Environments, none.Environments, unknown.Partial = []string{"development", "staging"}, []string{}, true
	some.FeatureNaming = &transfer.Naming{Pattern: "some-.+", Example: "some-a"}
	some.Protections = []transfer.Protection{
		{Environment: "staging", ChangeRequestsEnabled: true, RequiredApprovals: new(int64(2)), AllowTurningOff: true},
	}
	some.LinkTemplates = []transfer.Link{{URLTemplate: "https://example.com/{{feature}}"}}
	assert.Equal(t, []transfer.Project{project("all"), some, none, unknown}, d.Projects)
}

// The open-source edition lists the default project only.
func TestProjectThatIsNotListed(t *testing.T) {
	t.Parallel()
	d, _, err := readFrom(t, empty.with(answers{
		"search/features": `{"features":[{"name":"a","project":"shop","type":"release",
			"createdAt":"2024-01-01T00:00:00.000Z","environments":[]}],"total":1}`,
		"projects": `{"projects":[{"id":"default","name":"Default"}]}`,
	}), "shop")
	assert.OK(t, err)
	assert.Equal(t, []int{0, 1}, []int{len(d.Projects), len(d.Features)})
}

// forbidden are answers without the permission to read groups.
type forbidden struct{ answers }

const staging = `"environments":[{"name":"staging","type":"test","sortOrder":3,"hasStrategies":false,"variantCount":0}]`

// ServeHTTP implements http.Handler.
func (f forbidden) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/api/admin/groups" {
		w.WriteHeader(http.StatusForbidden)
		return
	}
	if r.FormValue("archived") == "IS:true" {
		respond(w, `{"features":[{"name":"old","project":"default","archivedAt":"2021-01-01T00:00:00Z",`+staging+`},
			{"name":"child","project":"default","archivedAt":"2021-01-01T00:00:00Z","dependencyType":"child",`+staging+`}],"total":2}`)
		return
	}
	f.answers.ServeHTTP(w, r)
}

// faulty fails the requests for types a number of times, after it has responded to one.
type faulty struct {
	answers

	fault    func(http.ResponseWriter)
	times    int
	requests int
}

// ServeHTTP implements http.Handler.
func (f *faulty) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.requests++
	if f.requests > 1 && f.requests <= f.times+1 {
		f.fault(w)
		return
	}
	f.answers.ServeHTTP(w, r)
}

// Errors that can pass are repeated, five times.
func TestPassingFaults(t *testing.T) {
	t.Parallel()
	status := func(code int) func(http.ResponseWriter) {
		return func(w http.ResponseWriter) { http.Error(w, "<html>", code) }
	}
	reset := func(http.ResponseWriter) { panic(http.ErrAbortHandler) }
	cut := func(w http.ResponseWriter) {
		w.Header().Set("Content-Length", "1000")
		respond(w, "[")
	}
	seconds := []time.Duration{time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second, 16 * time.Second}
	for name, fault := range map[string]func(http.ResponseWriter){
		"500": status(500), "502": status(502), "503": status(503), "504": status(504), "reset": reset, "cut": cut,
	} {
		_, waits, err := readFrom(t, &faulty{empty, fault, 5, 0}, "")
		assert.OK(t, err)
		assert.Equal(t, seconds, waits)
		if _, _, err = readFrom(t, &faulty{empty, fault, 6, 0}, ""); err == nil {
			t.Errorf("%s: no error after six faults", name)
		}
	}
	asks := func(w http.ResponseWriter) {
		w.Header().Set("Retry-After", "30")
		w.WriteHeader(http.StatusServiceUnavailable)
	}
	_, waits, err := readFrom(t, &faulty{empty, asks, 1, 0}, "")
	assert.OK(t, err)
	assert.Equal(t, []time.Duration{30 * time.Second}, waits)
	_, waits, err = readFrom(t, &faulty{empty, status(501), 1, 0}, "")
	if err == nil || waits != nil {
		t.Errorf("501: %v after %v", err, waits)
	}
}

// A server cannot use up the memory: by a response that is large after decompression, or by pages without end.
func TestHostileServer(t *testing.T) {
	t.Parallel()
	bomb := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		defer func() { _ = z.Close() }()
		for range 21 {
			if _, err := z.Write(make([]byte, 1<<20)); err != nil {
				return
			}
		}
	})
	if _, _, err := readFrom(t, bomb, ""); err == nil || !strings.Contains(err.Error(), "has more than 20 MB") {
		t.Error(err)
	}
	requests := 0
	endless := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(r.URL.Path, "search/features") {
			empty.ServeHTTP(w, r)
			return
		}
		requests++
		var page []string
		for n := range 100 {
			page = append(page, fmt.Sprintf(`{"name":"t%d-%d","environments":[]}`, requests, n))
		}
		respond(w, fmt.Sprintf(`{"features":[%s],"total":%d}`, strings.Join(page, ","), 150+100*requests))
	})
	if _, _, err := readFrom(t, endless, ""); err == nil || !strings.Contains(err.Error(), "more toggles than it counts") {
		t.Error(err)
	}
	assert.Equal(t, 4, requests)
}
