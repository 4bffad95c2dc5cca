package doctor_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toggleadmin/pkg/doctor"
	"toggleadmin/pkg/samtemplate"
)

// TestTablesAreTheTemplates: what doctor wants is what the template makes.
func TestTablesAreTheTemplates(t *testing.T) {
	t.Parallel()
	template, err := samtemplate.Load("../../template.yaml", samtemplate.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	key := func(attributes ...samtemplate.Attribute) (text string) {
		for _, a := range attributes {
			if a.Name != "" {
				text += fmt.Sprintf(" %s:%s", a.Name, a.Type)
			}
		}
		return text[1:]
	}
	var want []doctor.Table
	for _, table := range template.Tables {
		made := doctor.Table{ID: table.LogicalID, Key: key(table.Hash, table.Range), Stream: table.StreamViewType}
		for _, i := range table.Indexes {
			made.Indexes = append(made.Indexes, fmt.Sprintf("%s (%s)", i.Name, key(i.Hash, i.Range)))
		}
		want = append(want, made)
	}
	if diff := cmp.Diff(want, doctor.Tables()); diff != "" {
		t.Error(diff)
	}
}
