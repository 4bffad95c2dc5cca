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
	"toggleadmin/pkg/operator/doctor"
	"toggleadmin/pkg/operator/installation"
	"toggleadmin/pkg/samtemplate"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/database"
)

// TestTemplate checks that the stack has the outputs that commands read, and compares logical ids and default limits
// with the template.
func TestTemplate(t *testing.T) {
	t.Parallel()
	template, err := installation.Template()
	assert.OK(t, err)
	for _, table := range template.Tables {
		assert.Equal(t, table.Name, template.Outputs[table.Name+"Table"])
	}
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
