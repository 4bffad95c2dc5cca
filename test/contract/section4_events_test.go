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
	"toggleadmin/test/table"
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
	for _, row := range table.Rows(t, 3, strings.NewReplacer("NEWEST", newest, "OLDEST", oldest, "MARKER", marker, "UPPER",
		strings.ToUpper(marker), "TODAY", day).Replace(`
		# query | events, the newest is 0 | total
		type=IS:context-field-created | 0 | 1
		type=IS_ANY_OF:context-field-created,feature-type-updated | 0123 | 4
		id=IS_ANY_OF:OLDEST,NEWEST | 03 | 2
		subject=IS:field:MARKER | 0 | 1
		query=UPPER | 0 | 1
		query=GRÖSSE | | 0
		query=GRÖßE | 0 | 1
		from=TODAY&to=TODAY | 0123 | 4
		from=IS:9999-12-31 | | 0
		to=IS:2020-01-01 | | 0
		offset=1&limit=2 | 12 | 4
		offset=4 | | 4
		feature=IS:none | | 0
		project=IS:none | | 0
		unknown=1&unknown=2 | 0123 | 4
	`)) {
		query, err := url.ParseQuery(row[0])
		must(t, err)
		query.Add(by[0], by[1])
		var want []string
		for _, i := range row[1] {
			want = append(want, wanted[i-'0'])
		}
		var got page
		s.send(t, get(eventsPath+"?"+query.Encode()).as(s.APIToken)).want(t, http.StatusOK).decodeSome(t, &got)
		if !slices.Equal(got.subjects(), want) || fmt.Sprint(got.Total) != row[2] {
			t.Errorf("%s: %+v, want %v", row, got, want)
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
	for _, row := range table.Rows(t, 2, strings.ReplaceAll(`
		type=pat-created | type
		type=IS:a&type=IS:b | type
		feature=IS: | feature
		project=ANY_OF:a | project
		createdBy=IS:x | createdBy
		token=IS_ANY_OF:1,2 | token
		id=IS:0 | id
		from=IS:2026-02-30 | from
		to=2026-02-20 | to
		from=IS:2026-02-02&to=IS:2026-02-01 | from
		query=101ß | query
		offset=-1&limit=1001 | offset limit
		limit=0 | limit
	`, "101ß", url.QueryEscape(strings.Repeat("ß", 101)))) {
		var pointers []string
		for name := range strings.FieldsSeq(row[1]) {
			pointers = append(pointers, "`/query/"+name+"`")
		}
		s.send(t, get(eventsPath+"?"+row[0]).as(s.APIToken)).names(t, http.StatusBadRequest, pointers...)
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
