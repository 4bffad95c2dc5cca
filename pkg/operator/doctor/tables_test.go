package doctor_test

import (
	"crypto/rand"
	"net/http"
	"slices"
	"strconv"
	"testing"
	"time"

	"toggleadmin/pkg/api/feature"
	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/local/samtemplate"
	"toggleadmin/pkg/operator/doctor"
	"toggleadmin/pkg/operator/installation"
	"toggleadmin/test/assert"
	"toggleadmin/test/database"
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
		if table.TTLAttribute != "" {
			properties = append(properties, "time to live "+table.TTLAttribute)
		}
		want[table.Name] = properties
	}
	assert.Equal(t, want, doctor.Layouts)
	for variable, limit := range map[string]int{
		"MAX_TOKENS_PER_ACCOUNT": installation.DefaultTokenLimit, "MAX_SERVICE_ACCOUNTS": user.DefaultLimit,
		"EVENT_LOG_DAYS": eventlog.DefaultDays, "MAX_FEATURES": feature.DefaultLimit,
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

// TestTables describes tables as a restore leaves them, in an account with tables of other stacks.
func TestTables(t *testing.T) {
	t.Parallel()
	db, i := newInstallation(t)
	i.Client, _ = db.Through(t, func(c *database.Call) (*http.Response, error) {
		switch c.Operation {
		case "DescribeTimeToLive":
			return c.Reply(http.StatusOK, `{"TimeToLiveDescription":{"TimeToLiveStatus":"DISABLED"}}`)
		case "DescribeContinuousBackups":
			return c.Reply(http.StatusOK, `{"ContinuousBackupsDescription":{"ContinuousBackupsStatus":"ENABLED",`+
				`"PointInTimeRecoveryDescription":{"PointInTimeRecoveryStatus":"DISABLED"}}}`)
		case "ListTables":
			return c.Reply(http.StatusOK, `{"TableNames":["dev-Users-ABCDEFGH1234","dev-2-Users-ABCDEFGH1234","restored-Users"]}`)
		}
		return c.Pass()
	})
	i.Stack.Name = "dev"
	i.Stack.Parameters = map[string]string{"PointInTimeRecovery": "true", "DeletionProtection": "true"}
	found := map[string]string{}
	doctor.Examine(t.Context(), doctor.Config{Installation: i, HTTP: http.DefaultClient, Now: time.Now, Random: rand.Reader,
		Report: func(f doctor.Finding) {
			if f.Check == "table Traffic" || f.Check == "other tables" {
				found[f.Check] = string(f.Status) + " " + f.Detail
			}
		}})
	assert.Equal(t, map[string]string{
		"table Traffic": "problem Traffic lacks time to live expiresAt, point-in-time recovery, deletion protection; it has " +
			"key period:S pathDayShard:S",
		"other tables": "problem tables named like those of the stack, which it does not have: dev-Users-ABCDEFGH1234",
	}, found)
}
