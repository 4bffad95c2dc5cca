package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"time"

	"github.com/chromedp/chromedp"

	"toggleadmin/pkg/api/featuretable"
	"toggleadmin/pkg/api/group"
	"toggleadmin/pkg/api/pat"
	"toggleadmin/pkg/api/project"
	"toggleadmin/pkg/api/role"
	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/accesstable"
	"toggleadmin/pkg/platform/dynamo"
)

const (
	teamsRounds    = 7
	togglesOfTeams = 2_000
	groupSize      = 10  // members
	teamsGoal      = 300 // ms
)

// measureTeams measures the requests of the console's pages about projects, people, groups and roles, and, if there is a
// Chromium, the time until these pages show their first row. There are as many of each as there can be.
func measureTeams(ctx context.Context, o options) {
	s := startService(ctx, o, o.memory+"/teams")
	defer s.stop()
	t := s.fillTeams(ctx)
	t.measureRequests(ctx)
	if _, err := exec.LookPath(chromium()); err != nil {
		fmt.Println("\nThe pages were not measured, because there is no Chromium:", err)
		return
	}
	t.measurePages(ctx)
}

// teams is a service with teams, and what pages and requests name.
type teams struct {
	*service
	groups  []int64
	viewer  string // the token of a person without a root role
	project string
	person  int64
	group   int64
	role    int64
}

// fillTeams adds projects, roles, groups, people with a token, and toggles up to the limits.
func (s *service) fillTeams(ctx context.Context) *teams {
	log := eventlog.Discard(s.client, time.Now)
	t := &teams{service: s, project: "team-250"}
	roles := role.NewStore(s.client, s.tables, log)
	for i := len(must(roles.List(ctx))) - len(access.FixedRoles()); i < role.Limit; i++ {
		created := must(roles.Create(ctx, access.RoleDefinition{
			Name: fmt.Sprintf("Releaser %d", i), Type: access.CustomType, Description: "Turns toggles on and off in production.",
			Permissions: []access.RolePermission{
				{Permission: access.UpdateEnvironment, Environment: "production"}, {Permission: access.UpdateFeature},
			},
		}))
		t.role = int64(created.ID)
	}
	people := t.fillPeople(ctx, log)
	groups := group.NewStore(s.client, s.tables, log)
	for i := range group.Limit - len(must(groups.List(ctx))) {
		created := must(groups.Create(ctx, accesstable.Group{
			Name: fmt.Sprintf("Team %03d", i), Description: new("Everyone who works on it."), Mappings: []string{fmt.Sprint("team-", i)},
			Members: people[i*groupSize:][:groupSize],
		}))
		t.groups = append(t.groups, created.ID)
	}
	t.group = t.groups[len(t.groups)/2]
	projects := project.Limit - len(must(accesstable.NewReader(s.client, s.tables).Projects(ctx)))
	putItems(ctx, s.client, s.tables[accesstable.Table], projects, func(i int) dynamo.Item {
		return t.newProject(i, people)
	})
	putItems(ctx, s.client, s.tables["Features"], togglesOfTeams, func(i int) dynamo.Item {
		created := activeToggle(i, "release", time.Now(), false)
		created.Project = projectID(i % projects)
		return featuretable.Marshal(created)
	})
	return t
}

// fillPeople adds people, each with a token, and returns their ids.
func (t *teams) fillPeople(ctx context.Context, log *eventlog.Log) (ids []int64) {
	users, pats := user.NewStore(t.client, t.tables, log), pat.NewStore(t.client, t.tables, log, rand.Reader)
	now := time.Now()
	for i := len(must(users.List(ctx))); i < user.MaxPeople; i++ {
		u := must(users.Add(ctx, user.User{
			Kind: user.Person, Name: fmt.Sprintf("Ada Lovelace %04d", i), Email: fmt.Sprintf("ada.lovelace.%04d@example.com", i),
			Role: access.RoleViewer, CreatedAt: &now,
		}, user.DefaultLimit))
		_, token, err := pats.Create(ctx, pat.PAT{UserID: u.ID, Description: "laptop", CreatedAt: now, ExpiresAt: now.AddDate(0, 1, 0)},
			pat.Owner{Kind: user.Person, Limit: pat.MostPerOwner})
		check(err)
		ids = append(ids, u.ID)
		if len(ids) == user.MaxPeople/2 {
			t.viewer, t.person = token.Reveal(), u.ID
		}
	}
	return ids
}

// newProject is project number i with an Owner, three other people and two groups.
func (t *teams) newProject(i int, people []int64) dynamo.Item {
	p := access.NewProject(projectID(i), fmt.Sprintf("Team %03d", i))
	p.Description, p.Mode = new("The toggles of a team, whose members change them."), []access.Mode{access.Open, access.Protected, access.Private}[i%3]
	p.CreatedAt = new(time.Now())
	p.Users, p.Groups = map[int64][]access.Role{}, map[int64][]access.Role{}
	for n, r := range []access.Role{access.RoleOwner, access.RoleMember, access.RoleReader, access.Role(t.role)} {
		p.Users[people[(4*i+n)%len(people)]] = []access.Role{r}
	}
	p.Groups[t.groups[i%len(t.groups)]] = []access.Role{access.RoleMember}
	p.Groups[t.groups[(i+1)%len(t.groups)]] = []access.Role{access.RoleReader, access.Role(t.role)}
	return accesstable.MarshalProject(p)
}

func projectID(i int) string { return fmt.Sprintf("team-%03d", i) }

// measureRequests measures the requests of the pages.
func (t *teams) measureRequests(ctx context.Context) {
	inProject := "projects/" + t.project
	var rows [][]any
	for _, request := range []struct{ as, path string }{
		{"Admin", "user"}, {"Viewer", "user"}, {"Viewer", "user/roles"},
		{"Admin", "projects"}, {"Viewer", "projects"},
		{"Admin", fmt.Sprintf("projects?users=%d&groups=%d", t.person, t.group)}, {"Admin", "projects?roles=5"},
		{"Admin", inProject + "/overview"}, {"Admin", inProject + "/access"}, {"Admin", inProject + "/api-tokens"},
		{"Admin", "search/features/counts?project=IS:" + t.project},
		{"Admin", "user-admin"}, {"Admin", fmt.Sprint("user-admin?ids=", t.person)}, {"Admin", "user-admin/search?q=lovelace+1"},
		{"Admin", fmt.Sprintf("user-admin/%d/permissions?project=%s&environment=production", t.person, t.project)},
		{"Admin", "tokens"}, {"Admin", fmt.Sprint("tokens?userId=", t.person)}, {"Admin", "service-account"},
		{"Admin", "groups"}, {"Admin", fmt.Sprint("groups/", t.group)},
		{"Admin", "roles"}, {"Admin", fmt.Sprint("roles/", t.role)}, {"Admin", "roles?permission=UPDATE_FEATURE"},
		{"Admin", "permissions"}, {"Admin", "environments"},
	} {
		token := t.Users[0].PAT
		if request.as == "Viewer" {
			token = t.viewer
		}
		var took []time.Duration
		size := 0
		for range teamsRounds {
			started := time.Now()
			size = get(ctx, t.BaseURL+"/api/admin/"+request.path, token)
			took = append(took, time.Since(started))
		}
		rows = append(rows, []any{"`" + request.path + "`", request.as, median(took), size / 1000, teamsGoal})
	}
	printTable("Teams", " GET /api/admin/ | as | ms | kB | goal", rows,
		"%d projects, %d groups, %d people with a token, %d roles and %d toggles, `make run` on data in memory; median of %d rounds.",
		project.Limit, group.Limit, user.MaxPeople, role.Limit, togglesOfTeams, teamsRounds)
}

// get sends a request, and returns the size of the response.
func get(ctx context.Context, url, token string) int {
	request := must(http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody))
	request.Header.Set("Authorization", token)
	response, err := http.DefaultClient.Do(request)
	check(err)
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		check(fmt.Errorf("GET %s: %s", url, response.Status))
	}
	return int(must(io.Copy(io.Discard, response.Body)))
}

// measurePages measures the time from a click on a link until the page shows its first row.
func (t *teams) measurePages(ctx context.Context) {
	b, stop := startConsole(ctx, t.service)
	defer stop()
	b.open(t.Users[0].PAT)
	ofProject := "#/projects/" + t.project
	var rows [][]any
	for _, page := range []struct{ name, fragment, row string }{
		{"Projects", "#/projects", ".projects tbody tr"},
		{"Project", ofProject, ".panel dd"},
		{"Members of a project", ofProject + "?tab=members", "tbody tr"},
		{"Environments of a project", ofProject + "?tab=environments", "tbody tr"},
		{"Client tokens of a project", ofProject + "?tab=tokens", ".empty"},
		{"Settings of a project", ofProject + "?tab=settings", "form input"},
		{"People", "#/people", ".people tbody tr"},
		{"Person", fmt.Sprint("#/people/", t.person), ".panel dd"},
		{"Person: roles in projects", fmt.Sprint("#/people/", t.person), ".sentences li"},
		{"Person: what may the person do?", fmt.Sprintf("#/people/%d?project=%s", t.person, t.project), ".rights tbody tr"},
		{"Groups", "#/groups", ".groups tbody tr"},
		{"Group", fmt.Sprint("#/groups/", t.group), ".group-members tbody tr"},
		{"Roles", "#/roles", ".roles tbody tr"},
		{"Role", fmt.Sprint("#/roles/", t.role), ".matrix tbody tr"},
		{"Role: who has it", fmt.Sprint("#/roles/", t.role), ".sentences li"},
		{"Service accounts", "#/service-accounts", ".accounts tbody tr"},
	} {
		ms := b.measure(func() float64 {
			b.show("#/design", "table")
			return b.show(page.fragment, page.row)
		})
		rows = append(rows, []any{page.name, b.requests(), ms, teamsGoal})
	}
	inPage[chromedp.Void](b, "sessionStorage.clear()")
	b.open(t.viewer)
	ms := b.measure(func() float64 {
		b.show("#/design", "table")
		b.show(ofProject, ".locked")
		inPage[chromedp.Void](b, "performance.clearResourceTimings()")
		return b.until("() => document.querySelector('main .locked').click()", "document.querySelector('dialog dd')")
	})
	rows = append(rows, []any{"Why can't I?", b.requests(), ms, teamsGoal})
	printTable("Pages about teams", " page | requests | ms | goal", rows,
		"In a headless Chromium on the same machine, from the change of the address until the frame with the first row; median "+
			"of %d rounds, with pauses.", consoleRounds)
}

// requests returns the number of requests that a page has sent since show, also after its first row.
func (b *consoleBench) requests() int {
	b.wait()
	return inPage[int](b, "performance.getEntriesByType('resource').filter(e => e.name.includes('/api/admin/')).length")
}

// show goes to a page, and waits until it has an element.
func (b *consoleBench) show(fragment, selector string) float64 {
	inPage[chromedp.Void](b, "left = document.querySelector('.page'), performance.clearResourceTimings()")
	return b.until(fmt.Sprintf("() => { location.hash = %q; }", fragment),
		fmt.Sprintf("document.querySelector('.page') !== left && document.querySelector('main').querySelector(%q)", selector))
}
