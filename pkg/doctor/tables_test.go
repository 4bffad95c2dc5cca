package doctor_test

import (
	"slices"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toggleadmin/pkg/doctor"
	"toggleadmin/pkg/installation"
	"toggleadmin/pkg/samtemplate"
)

// TestTemplate compares the tables, the logical ids and the default limit of tokens with template.yaml.
func TestTemplate(t *testing.T) {
	t.Parallel()
	template, err := samtemplate.Load("../../template.yaml", samtemplate.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	key := func(attributes ...samtemplate.Attribute) (text string) {
		for _, a := range attributes {
			if a.Name != "" {
				text += " " + a.Name + ":" + a.Type
			}
		}
		return text
	}
	want := map[string][]string{}
	for _, table := range template.Tables {
		properties := []string{"key" + key(table.Hash, table.Range)}
		for _, i := range table.Indexes {
			properties = append(properties, "index "+i.Name+key(i.Hash, i.Range))
		}
		if table.StreamViewType != "" {
			properties = append(properties, "stream "+table.StreamViewType)
		}
		want[table.LogicalID] = properties
	}
	if diff := cmp.Diff(want, doctor.Layouts); diff != "" {
		t.Error(diff)
	}
	if !slices.ContainsFunc(template.Functions, func(f samtemplate.Function) bool {
		return f.Environment["MAX_TOKENS_PER_ACCOUNT"] == strconv.Itoa(installation.DefaultTokenLimit)
	}) {
		t.Errorf("the default limit of tokens is not %d", installation.DefaultTokenLimit)
	}
	if !slices.ContainsFunc(template.Functions, func(f samtemplate.Function) bool {
		return f.LogicalID == doctor.RecordTraffic &&
			slices.ContainsFunc(f.LogSubscriptions, func(s samtemplate.LogSubscription) bool { return s.LogGroup == doctor.AccessLogs })
	}) {
		t.Errorf("the template has no subscription of %s to %s", doctor.RecordTraffic, doctor.AccessLogs)
	}
}
