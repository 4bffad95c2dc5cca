package contract_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"toggleadmin/pkg/auth"
	"toggleadmin/pkg/contextfield"
	"toggleadmin/pkg/feature"
	"toggleadmin/pkg/local"
	"toggleadmin/pkg/user"
)

type feedbackRecord struct {
	FeedbackID string
	UserID     int64
	NeverShow  bool
	Given      *string
}

func TestSection41Update(t *testing.T) {
	t.Parallel()
	s := shared
	caller, token := s.person(t, auth.RoleViewer)
	const at = `"2026-11-20T05:39:00.000Z"`
	for _, step := range []struct{ sent, neverShow, given string }{ // no members: 400
		{`{}`, "false", "null"},
		{`{"neverShow":true,"given":` + at + `}`, "true", at},
		{`{"neverShow":false}`, "false", at},
		{`{"given":null}`, "false", "null"},
		{`{"neverShow":null,"given":` + at + `}`, "", ""},
		{`{}`, "false", "null"},
	} {
		r := s.send(t, putFeedback("survey", step.sent).as(token))
		if step.neverShow == "" {
			r.names(t, 400, "`/body/neverShow`")
			continue
		}
		r.body200(t, fmt.Sprintf(`{"userId":%d,"neverShow":%s,"given":%s,"feedbackId":"survey"}`, caller, step.neverShow, step.given))
	}
	s.send(t, putFeedback("survey", `{"neverShow":true}`).as(token)).want(t, 200)
	s.send(t, putFeedback("survey", `{}`).as(s.viewer(t))).body200(t, `"neverShow":false`)
	s.send(t, putFeedback("another", `{}`).as(token)).body200(t, `"neverShow":false`)
}

func TestSection41UserID(t *testing.T) {
	t.Parallel()
	s := shared
	caller, viewer := s.person(t, auth.RoleViewer)
	another, admin := s.account(t, user.ServiceAccount, auth.RoleViewer), s.admin(t)
	for _, tt := range []struct {
		token  string
		userID int64
		status int
	}{{viewer, caller, 200}, {viewer, another, 400}, {admin, another, 200}, {admin, 2147483647, 400}} {
		r := s.send(t, putFeedback("users", `{"userId":`+text(tt.userID)+`}`).as(tt.token))
		if tt.status == 200 {
			r.body200(t, `{"userId":`+text(tt.userID)+`,`)
		} else {
			r.names(t, 400, "`/body/userId`")
		}
	}
}

func TestSection42And44NewInstallation(t *testing.T) {
	t.Parallel()
	s := start(t, local.Config{RequestsOnly: true})
	list := s.send(t, get(typesPath).as(s.APIToken)).want(t, 200).body
	fields := s.send(t, get(contextPath).as(s.APIToken)).want(t, 200).body
	for body, parts := range map[string][]string{
		list: {
			`{"version":1,"types":[{"id":"release",`, `"lifetimeDays":40},{"id":"experiment",`, `"lifetimeDays":40},{"id":"operational",`,
			`"lifetimeDays":7},{"id":"kill-switch",`, `"lifetimeDays":null},{"id":"permission",`, `"lifetimeDays":null}]}`,
		},
		fields: {
			`[{"name":"environment",`, `"stickiness":false,"sortOrder":0,`, `{"name":"userId",`, `"stickiness":false,"sortOrder":1,`,
			`{"name":"appName",`, `"stickiness":false,"sortOrder":2,`, `{"name":"currentTime",`, `"stickiness":false,"sortOrder":3,`,
			`{"name":"sessionId",`, `"stickiness":true,"sortOrder":4,`,
		},
	} {
		rest := body
		for _, part := range parts {
			_, after, found := strings.Cut(rest, part)
			if !found {
				t.Fatalf("%s does not continue with %s", body, part)
			}
			rest = after
		}
		if strings.Contains(rest, `{"id"`) || strings.Contains(rest, `{"name"`) {
			t.Errorf("%s has more elements", body)
		}
	}
}

func TestSection43Lifetime(t *testing.T) {
	t.Parallel()
	s := shared
	admin, id := s.admin(t), s.featureType(t)
	for _, tt := range []struct{ sent, want string }{ // nothing wanted: 400
		{"5", "5"}, {"5", "5"}, {"0", "null"}, {"null", "null"}, {"2147483647", "2147483647"}, {"-1", ""}, {"2147483648", ""},
	} {
		r := s.send(t, putLifetime(strings.ToUpper(id), tt.sent).as(admin))
		if tt.want == "" {
			r.names(t, 400, "`/body/lifetimeDays`")
			continue
		}
		want := `{"id":"` + id + `","name":"Name","description":"Text","lifetimeDays":` + tt.want + `}`
		r.body200(t, want)
		s.send(t, get(typesPath).as(admin)).body200(t, want)
	}
	s.send(t, putLifetime("boGus", "1").as(admin)).names(t, 404, `"boGus"`)
}

func TestSection44Fields(t *testing.T) {
	t.Parallel()
	s := start(t, local.Config{RequestsOnly: true})
	for _, f := range []contextfield.ContextField{
		{Name: "b", SortOrder: 9},
		{Name: "Z", SortOrder: 9, Description: new("d"), LegalValues: []contextfield.LegalValue{{Value: "v", Description: new("w")}, {Value: "x"}}},
	} {
		must(t, contextfield.NewStore(s.db, s.tables).Create(t.Context(), f))
	}
	for i, f := range []feature.Feature{{Project: "p"}, {Project: "p"}, {Project: "q"}, {Project: "r", Archived: true}} {
		f.Name, f.Type, f.CreatedAt, f.ContextFields = fmt.Sprint("f", i), "release", time.Now(), []string{"b"}
		must(t, feature.NewStore(s.db, s.tables).Create(t.Context(), f))
	}
	s.send(t, get(contextPath).as(s.APIToken)).body200(t,
		`,{"name":"Z","description":"d","stickiness":false,"sortOrder":9,"createdAt":null,"usedInFeatures":0,"usedInProjects":0,`+
			`"legalValues":[{"value":"v","description":"w"},{"value":"x"}]},`+
			`{"name":"b","description":null,"stickiness":false,"sortOrder":9,"createdAt":null,"usedInFeatures":3,"usedInProjects":2,`+
			`"legalValues":[]}]`)
}

// token is the response to a creation.
type token struct {
	ID                           int64
	Secret                       string
	CreatedAt, SeenAt, ExpiresAt *string
	UserID                       int64
	Description                  string
}

// create creates a token of a service account.
func (s *service) create(t *testing.T, as, account, body string) (created token) {
	t.Helper()
	s.send(t, postToken(account, body).as(as)).want(t, 201).decode(t, &created)
	return created
}

func TestSection45Created(t *testing.T) {
	t.Parallel()
	s := shared
	admin, account := s.admin(t), s.account(t, user.ServiceAccount, auth.RoleViewer)
	c := postToken(text(account), `{"description":" \u0001é ","expiresAt":"9999-12-31T23:59:59Z"}`).as(admin)
	for _, host := range []string{"", "toggles.localhost:8443"} {
		c.host = host
		r := s.send(t, c).want(t, 201)
		var created token
		r.decode(t, &created)
		base := s.BaseURL
		if host != "" {
			base = "http://" + host
		}
		location := r.header.Get("Location")
		if want := fmt.Sprintf("%s%s/%d", base, c.target, created.ID); location != want {
			t.Errorf("Location %q, want %s", location, want)
		}
		fetch := get(strings.TrimPrefix(location, base)).as(admin)
		fetch.host = host
		s.send(t, fetch).body200(t, fmt.Sprintf(`{"id":%d,"createdAt":%q,"seenAt":null,`, created.ID, *created.CreatedAt))
		want := token{created.ID, created.Secret, created.CreatedAt, nil, new("9999-12-31T23:59:59.000Z"), account, " \u0001é "}
		if diff := cmp.Diff(want, created); diff != "" {
			t.Error(diff)
		}
		s.send(t, get(typesPath).as(created.Secret)).want(t, 200)
		s.send(t, deleteToken(text(created.ID)).as(created.Secret)).want(t, 200)
	}
}

func TestSection45Refused(t *testing.T) {
	t.Parallel()
	s := shared
	admin, person := s.admin(t), s.account(t, user.Person, auth.RoleAdmin)
	account := text(s.account(t, user.ServiceAccount, auth.RoleViewer))
	for _, tt := range []struct{ name, body, pointer string }{
		{"white space", newToken(`" \t "`), "/body/description"},
		{"256 characters", newToken(`"` + strings.Repeat("é", 256) + `"`), "/body/description"},
		{"past", `{"description":"d","expiresAt":"2020-01-01T00:00:00Z"}`, "/body/expiresAt"},
	} {
		s.send(t, postToken(account, tt.body).as(admin)).names(t, 400, "`"+tt.pointer+"`")
	}
	for _, id := range []string{"2147483647", text(person), "ci", "0" + account, "%2B" + account, "4294967300"} {
		s.send(t, postToken(id, anyToken()).as(admin)).error(t, 404)
	}
	s.create(t, admin, account, newToken(`"`+strings.Repeat("é", 255)+`"`))
	s.create(t, admin, account, newToken(`"d"`))
	s.send(t, postToken(account, newToken(`"\u0064"`)).as(admin)).
		message(t, 409, "The account already has a token with this description.")
	s.create(t, admin, account, newToken(`"D"`))
}

func TestSection45Limit(t *testing.T) {
	t.Parallel()
	s := shared
	admin, account := s.admin(t), s.account(t, user.ServiceAccount, auth.RoleViewer)
	s.pat(t, account, user.ServiceAccount, -time.Hour)
	for range 9 {
		s.pat(t, account, user.ServiceAccount, time.Hour)
	}
	s.send(t, postToken(text(account), anyToken()).as(admin)).
		message(t, 403, "The account has reached the maximum number of tokens (10), including expired ones.")
}

// Concurrent creations get the next IDs without gaps. Its own service, because other tests create tokens, too.
func TestSection45IDs(t *testing.T) {
	t.Parallel()
	s := start(t, local.Config{RequestsOnly: true})
	last, err := s.pats.LastID(t.Context())
	must(t, err)
	if last != int64(len(s.Users)) {
		t.Errorf("ID %d after %d tokens", last, len(s.Users))
	}
	var mu sync.Mutex
	got := map[int64]bool{}
	var requests sync.WaitGroup
	for range 6 {
		account := text(s.account(t, user.ServiceAccount, auth.RoleViewer))
		requests.Go(func() {
			var created token
			if r := s.send(t, postToken(account, anyToken()).as(s.APIToken)); r.status == http.StatusCreated {
				r.decode(t, &created)
			}
			mu.Lock()
			defer mu.Unlock()
			got[created.ID-last] = true
		})
	}
	requests.Wait()
	if diff := cmp.Diff(map[int64]bool{1: true, 2: true, 3: true, 4: true, 5: true, 6: true}, got); diff != "" {
		t.Error(diff)
	}
}

func TestSection46Periods(t *testing.T) {
	t.Parallel()
	s := shared
	for _, period := range []string{"0001-01", "9999-12"} {
		s.send(t, get(trafficPath+period).as(s.APIToken)).body200(t, `{"period":"`+period+`","apiData":[]}`)
	}
	for _, period := range []string{"0000-01", "2026-13", "2026-1", "2026-11-20"} {
		s.send(t, get(trafficPath+period).as(s.APIToken)).names(t, 400, "`/params/period`")
	}
}

func TestSection47Delete(t *testing.T) {
	t.Parallel()
	s := shared
	admin, account := s.admin(t), s.account(t, user.ServiceAccount, auth.RoleViewer)
	s.fill(t, account)
	reserved, err := s.users.Get(t.Context(), account)
	must(t, err)
	var first int64
	for _, id := range reserved.PATs {
		first = id
	}
	for _, id := range []string{text(first), "2147483647", "x", "0", "0" + text(first)} {
		s.send(t, deleteToken(id).as(admin)).message(t, 404, "You have no personal access token with this id.")
	}
	owner := s.account(t, user.ServiceAccount, auth.RoleViewer)
	body := newToken(`"d"`)
	one, another := s.create(t, admin, text(owner), body), s.create(t, admin, text(owner), anyToken())
	if r := s.send(t, deleteToken(text(one.ID)).as(another.Secret)).want(t, 200); r.body != "" {
		t.Errorf("body %q", r.body)
	}
	s.send(t, get(typesPath).as(one.Secret)).want(t, 401)
	s.send(t, deleteToken(text(one.ID)).as(another.Secret)).error(t, 404)
	s.create(t, admin, text(owner), body) // the description is free again
	s.send(t, deleteToken(text(another.ID)).as(another.Secret)).want(t, 200)
	s.send(t, get(typesPath).as(another.Secret)).want(t, 401)
}

func TestSection411Fields(t *testing.T) {
	t.Parallel()
	s := shared
	_, editor := s.person(t, auth.RoleEditor)
	post := func(body string) call {
		return call{method: http.MethodPost, target: contextPath, body: body}.as(editor)
	}
	created := s.send(t, post(`{"name":"section-4.11"}`)).want(t, 201)
	location, ok := strings.CutPrefix(created.header.Get("Location"), s.BaseURL)
	if !ok || location != contextPath+"/section-4.11" {
		t.Errorf("Location %s", created.header.Get("Location"))
	}
	if got := s.send(t, get(location).as(s.viewer(t))).want(t, 200); got.body != created.body {
		t.Errorf("created %s, read %s", created.body, got.body)
	}
	s.send(t, post(`{"name":"section-4.11","sortOrder":9}`)).message(t, 409, `A context field with the name "section-4.11" exists.`)
	s.send(t, post(`{"name":"..","legalValues":[{"value":"a"},{"value":"a"}]}`)).names(t, 400, "`/body/name`", "`/body/legalValues/1/value`")
	put := call{method: http.MethodPut, target: location, body: `{"name":[],"sortOrder":9,"description":""}`}.as(editor)
	s.send(t, put).body200(t, `{"name":"section-4.11","description":"","stickiness":false,"sortOrder":9,`)
	toggle := feature.Feature{Name: "section-4.11", Project: "p", ContextFields: []string{"section-4.11"}}
	must(t, feature.NewStore(s.db, s.tables).Create(t.Context(), toggle))
	remove := call{method: http.MethodDelete, target: location}.as(editor)
	s.send(t, remove).message(t, 409,
		`The context field "section-4.11" is in use. The number of toggles with a constraint on it, without archived ones, is 1.`)
	must(t, feature.NewStore(s.db, s.tables).Delete(t.Context(), toggle.Name))
	if r := s.send(t, remove).want(t, 200); r.body != "" {
		t.Errorf("body %q", r.body)
	}
	for _, c := range []call{get(location).as(editor), put, remove, remove.at(contextPath + "/SECTION-4.11")} {
		s.send(t, c).names(t, 404, "There is no context field with the name")
	}
}
