package doctor_test

import (
	"slices"
	"strconv"
	"testing"

	"toggleadmin/pkg/api/eventlog"
	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/local/samtemplate"
	"toggleadmin/pkg/operator/doctor"
	"toggleadmin/pkg/operator/installation"
	"toggleadmin/test/assert"
)

// TestTemplate compares the tables, the logical ids and the default limits with template.yaml.
func TestTemplate(t *testing.T) {
	t.Parallel()
	template, err := samtemplate.Load("../../../template.yaml", samtemplate.Settings{})
	assert.OK(t, err)
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
		want[table.Name] = properties
	}
	assert.Equal(t, want, doctor.Layouts)
	for variable, limit := range map[string]int{
		"MAX_TOKENS_PER_ACCOUNT": installation.DefaultTokenLimit, "MAX_SERVICE_ACCOUNTS": user.DefaultLimit,
		"EVENT_LOG_DAYS": eventlog.DefaultDays,
	} {
		if !slices.ContainsFunc(template.Functions, func(f samtemplate.Function) bool {
			return f.Environment[variable] == strconv.Itoa(limit)
		}) {
			t.Errorf("the default of %s is not %d", variable, limit)
		}
	}
	if !slices.ContainsFunc(template.Functions, func(f samtemplate.Function) bool {
		return f.LogicalID == doctor.RecordTraffic &&
			slices.ContainsFunc(f.LogSubscriptions,
				func(s samtemplate.LogSubscription) bool { return s.LogGroup == doctor.AccessLogs })
	}) {
		t.Errorf("the template has no subscription of %s to %s", doctor.RecordTraffic, doctor.AccessLogs)
	}
}
