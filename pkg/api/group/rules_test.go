package group_test

import (
	"strings"
	"testing"

	"toggleadmin/pkg/api/group"
	"toggleadmin/pkg/platform/accesstable"
	"toggleadmin/test/helper/assert"
)

func TestCheck(t *testing.T) {
	t.Parallel()
	text := func(n int) string { return strings.Repeat("é", n) }
	for _, test := range []struct {
		group accesstable.Group
		want  string // the beginning of the error; empty: none
	}{
		{accesstable.Group{Name: text(100), Description: new(text(1000)), Mappings: []string{text(255)}}, ""},
		{accesstable.Group{Name: text(101)}, "the name must"},
		{accesstable.Group{Name: "\t"}, "the name must"},
		{accesstable.Group{Name: "a", Description: new(text(1001))}, "the description must"},
		{accesstable.Group{Name: "a", Mappings: make([]string, 21)}, "there must be at most 20 values"},
		{accesstable.Group{Name: "a", Mappings: []string{""}}, "each value of ID tokens must"},
		{accesstable.Group{Name: "a", Mappings: []string{text(256)}}, "each value of ID tokens must"},
	} {
		got := ""
		if err := group.Check(test.group); err != nil {
			got = err.Error()
		}
		assert.Equal(t, true, strings.HasPrefix(got, test.want) && (got == "") == (test.want == ""))
	}
}
