package contract_test

import (
	"crypto/rand"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"toggleadmin/pkg/api/eventlog"
	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/test/openapi"
)

const eventsPath = "/api/admin/search/events"

// page is a response of the search, with the subjects of its events.
type page struct {
	Events []struct {
		ID      int64
		Type    string
		Subject string
	}
	Total int
}

func (p page) subjects() (all []string) {
	for _, e := range p.Events {
		all = append(all, e.Subject)
	}
	return all
}

// search returns the events that parameters, names and values in turn, select.
func (s *service) search(t *testing.T, parameters ...string) (found page) {
	t.Helper()
	query := url.Values{}
	for pair := range slices.Chunk(parameters, 2) {
		query.Add(pair[0], pair[1])
	}
	r := s.send(t, get(eventsPath+"?"+query.Encode()).as(s.APIToken)).want(t, http.StatusOK)
	r.decodeSome(t, &found)
	return found
}

// A change is in the first response after its own. Every parameter selects, and total is the number of all events.
func TestSection413Search(t *testing.T) {
	t.Parallel()
	s := shared
	who, token := s.person(t, access.RoleAdmin)
	marker := strings.ToLower(rand.Text())
	id := s.featureType(t)
	var wanted []string // newest first
	for days := 1; days <= 3; days++ {
		s.send(t, putLifetime(id, fmt.Sprint(days)).as(token)).want(t, http.StatusOK)
		wanted = append([]string{"type:" + id}, wanted...)
		if got := s.search(t, "createdBy", "IS:"+text(who)); !slices.Equal(got.subjects(), wanted) || got.Total != days {
			t.Fatalf("after change %d: %+v", days, got)
		}
	}
	s.send(t, call{method: http.MethodPost, target: contextPath,
		body: `{"name":"` + marker + `","description":"Größe"}`}.as(token)).
		want(t, http.StatusCreated)
	wanted = append([]string{"field:" + marker}, wanted...)
	by := []string{"createdBy", "IS:" + text(who)}
	day := time.Now().UTC().Format("IS:2006-01-02")
	all := s.search(t, by...)
	if newest, oldest := all.Events[0].ID, all.Events[3].ID; newest <= oldest {
		t.Errorf("not newest first: %+v", all)
	}
	newest, oldest := fmt.Sprint(all.Events[0].ID), fmt.Sprint(all.Events[3].ID)
	for _, tt := range []struct {
		parameters []string
		want       []string
		total      int
	}{
		{[]string{"type", "IS:context-field-created"}, wanted[:1], 1},
		{[]string{"type", "IS_ANY_OF:context-field-created,feature-type-updated"}, wanted, 4},
		{[]string{"id", "IS_ANY_OF:" + oldest + "," + newest}, []string{wanted[0], wanted[3]}, 2},
		{[]string{"subject", "IS:field:" + marker}, wanted[:1], 1},
		{[]string{"query", strings.ToUpper(marker)}, wanted[:1], 1},
		{[]string{"query", "GRÖSSE"}, nil, 0},
		{[]string{"query", "GRÖßE"}, wanted[:1], 1},
		{[]string{"from", day, "to", day}, wanted, 4},
		{[]string{"from", "IS:9999-12-31"}, nil, 0},
		{[]string{"to", "IS:2020-01-01"}, nil, 0},
		{[]string{"offset", "1", "limit", "2"}, wanted[1:3], 4},
		{[]string{"offset", "4"}, nil, 4},
		{[]string{"feature", "IS:none"}, nil, 0},
		{[]string{"project", "IS:none"}, nil, 0},
		{[]string{"unknown", "1", "unknown", "2"}, wanted, 4},
	} {
		if got := s.search(t, append(tt.parameters, by...)...); !slices.Equal(got.subjects(), tt.want) ||
			got.Total != tt.total {
			t.Errorf("%v: %+v, want %v", tt.parameters, got, tt.want)
		}
	}
}

// What a token did, and what was made with what it made.
func TestSection413LeakedToken(t *testing.T) {
	t.Parallel()
	s := shared
	account := s.account(t, user.ServiceAccount, access.RoleAdmin)
	leaked, secret := s.pat(t, account, user.ServiceAccount, time.Hour)
	var made struct {
		ID     int64
		Secret string
	}
	s.send(t, postToken(text(account), anyToken()).as(secret)).want(t, http.StatusCreated).decodeSome(t, &made)
	id := s.featureType(t)
	s.send(t, putLifetime(id, "5").as(made.Secret)).want(t, http.StatusOK)
	if got := s.search(t, "token", "IS:"+text(leaked)); !slices.Equal(got.subjects(), []string{"pat:" + text(made.ID)}) {
		t.Errorf("by the leaked token: %+v", got)
	}
	if got := s.search(t, "token", "IS:"+text(made.ID)); !slices.Equal(got.subjects(), []string{"type:" + id}) {
		t.Errorf("by the token that it made: %+v", got)
	}
}

func TestSection413Refused(t *testing.T) {
	t.Parallel()
	s := shared
	for query, parameters := range map[string][]string{
		"type=pat-created":                    {"type"},
		"type=IS:a&type=IS:b":                 {"type"},
		"feature=IS:":                         {"feature"},
		"project=ANY_OF:a":                    {"project"},
		"createdBy=IS:x":                      {"createdBy"},
		"token=IS_ANY_OF:1,2":                 {"token"},
		"id=IS:0":                             {"id"},
		"from=IS:2026-02-30":                  {"from"},
		"to=2026-02-20":                       {"to"},
		"from=IS:2026-02-02&to=IS:2026-02-01": {"from"},
		"query=" + url.QueryEscape(strings.Repeat("ß", 101)): {"query"},
		"offset=-1&limit=1001":                               {"offset", "limit"},
		"limit=0":                                            {"limit"},
	} {
		var pointers []string
		for _, name := range parameters {
			pointers = append(pointers, "`/query/"+name+"`")
		}
		s.send(t, get(eventsPath+"?"+query).as(s.APIToken)).names(t, http.StatusBadRequest, pointers...)
	}
}

// The document lists every type of event.
func TestSection413Types(t *testing.T) {
	t.Parallel()
	doc, err := openapi.Document(t.Context())
	must(t, err)
	var declared []string
	for _, value := range doc.Components.Schemas["eventTypeSchema"].Value.Enum {
		declared = append(declared, fmt.Sprint(value))
	}
	slices.Sort(declared)
	var want []string
	for _, t := range eventlog.Types() {
		want = append(want, string(t))
	}
	if !slices.Equal(declared, want) {
		t.Errorf("declared are %v, want %v", declared, want)
	}
}
