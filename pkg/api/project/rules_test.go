package project_test

import (
	"strings"
	"testing"

	"toggleadmin/pkg/api/project"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/test/helper/assert"
)

func TestCheck(t *testing.T) {
	t.Parallel()
	text := func(n int) string { return strings.Repeat("é", n) }
	for _, test := range []struct {
		change func(*access.Project)
		want   string // the beginning of the error; empty: none
	}{
		{func(*access.Project) {}, ""},
		{func(p *access.Project) { p.Name, p.Description = text(100), new(text(1000)) }, ""},
		{func(p *access.Project) { p.ID = ".." }, "the id is not valid"},
		{func(p *access.Project) { p.ID = "Archive" }, `the id must not be "Archive"`},
		{func(p *access.Project) { p.Name = text(101) }, "the name must"},
		{func(p *access.Project) { p.Name = " " }, "the name must"},
		{func(p *access.Project) { p.Description = new(text(1001)) }, "the description must"},
		{func(p *access.Project) { p.Mode = "" }, "the mode must"},
		{func(p *access.Project) { p.DefaultStickiness = "" }, "the default stickiness must"},
		{func(p *access.Project) { p.Environments = make([]string, 51) }, "there must be at most 50 environments"},
		{func(p *access.Project) { p.LinkTemplates = make([]access.LinkTemplate, 21) }, "there must be at most 20 links"},
		{func(p *access.Project) { p.LinkTemplates = []access.LinkTemplate{{URLTemplate: "ftp://x"}} }, "each link must"},
		{func(p *access.Project) { p.Naming = &access.Naming{Pattern: "a+", Example: "aa"} }, ""},
		{func(p *access.Project) { p.Naming = &access.Naming{Pattern: "("} }, "the pattern of names must"},
		{func(p *access.Project) { p.Naming = &access.Naming{Pattern: "a+", Example: "ab"} }, "the example of a name must"},
		{func(p *access.Project) { p.Naming = &access.Naming{Pattern: "a", Description: text(1001)} },
			"the description of names must"},
	} {
		p := access.NewProject("shop", "Shop")
		test.change(&p)
		got := ""
		if err := project.Check(&p); err != nil {
			got = err.Error()
		}
		assert.Equal(t, true, strings.HasPrefix(got, test.want) && (got == "") == (test.want == ""))
	}
}
