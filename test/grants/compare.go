package grants

import (
	"errors"
	"fmt"
	"strings"

	"toggleadmin/pkg/samtemplate"
)

// Compare names what is wrong between uses and policies, one line each with function, action and table; none: they are equal.
func Compare(t *samtemplate.Template, used []Use) []string {
	c := &comparison{granted: map[Use]bool{}, tables: map[string]*samtemplate.Table{}}
	for i := range t.Tables {
		c.tables[t.Tables[i].Name] = &t.Tables[i]
	}
	for i := range t.Functions {
		for _, statement := range t.Functions[i].Policies {
			c.read(t.Functions[i].Name, statement)
		}
	}
	needed := map[Use]bool{}
	for _, use := range used {
		needed[use] = true
	}
	for _, use := range sorted(needed) {
		if !c.granted[use] {
			c.complain("function %s uses %s on %s: no statement of its policy grants it", use.Function, use.Action, place(use))
		}
	}
	for _, use := range sorted(c.granted) {
		if !needed[use] {
			c.complain("function %s is granted %s on %s: it was never used", use.Function, use.Action, place(use))
		}
	}
	return c.complaints
}

type comparison struct {
	tables     map[string]*samtemplate.Table
	granted    map[Use]bool
	complaints []string
}

func (c *comparison) complain(format string, args ...any) {
	c.complaints = append(c.complaints, fmt.Sprintf(format, args...))
}

// read takes a statement apart into single grants. What is more than one action on one table is complained about: it grants more than any
// run could use.
func (c *comparison) read(function string, s samtemplate.Statement) {
	for _, action := range s.Actions {
		if !strings.HasPrefix(action, "dynamodb:") && !strings.Contains(action, "*") {
			continue
		}
		for _, resource := range s.Resources {
			if strings.Contains(resource, "/stream/") {
				continue // Lambda's mapping reads the stream, no function does
			}
			grant, err := c.grant(function, action, resource)
			switch {
			case s.Effect != "Allow":
				c.complain("function %s: the effect %q of %s on %s is not known here", function, s.Effect, action, resource)
			case err != nil:
				c.complain("function %s is granted %s on %s: %v", function, action, resource, err)
			case c.granted[grant]:
				c.complain("function %s is granted %s on %s twice", function, action, place(grant))
			default:
				c.granted[grant] = true
			}
		}
	}
}

// grant reads one action on one resource: arn:<partition>:dynamodb:<region>:<account>:table/<name>[/index/<name>].
func (c *comparison) grant(function, action, resource string) (Use, error) {
	grant := Use{Function: function, Action: action}
	if strings.ContainsAny(action, "*?") || strings.ContainsAny(resource, "*?") {
		return grant, errors.New("a wildcard grants more than one action on one table")
	}
	const parts = 6
	arn := strings.SplitN(resource, ":", parts)
	if len(arn) != parts || arn[0] != "arn" || arn[2] != "dynamodb" {
		return grant, errors.New("that is no ARN of DynamoDB's")
	}
	rest, ok := strings.CutPrefix(arn[5], "table/")
	if !ok {
		return grant, errors.New("that is no table")
	}
	grant.Table, grant.Index, _ = strings.Cut(rest, "/index/")
	table := c.tables[grant.Table]
	if table == nil {
		return grant, errors.New("the template has no such table")
	}
	if grant.Index == "" {
		return grant, nil
	}
	for _, index := range table.Indexes {
		if index.Name == grant.Index {
			return grant, nil
		}
	}
	return grant, errors.New("the table has no such index")
}

func place(use Use) string {
	switch {
	case use.Table == "": // a call that the local service cannot read
		return "an unknown table"
	case use.Index == "":
		return "table " + use.Table
	}
	return "index " + use.Index + " of table " + use.Table
}
