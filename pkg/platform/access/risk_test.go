package access_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"toggleadmin/pkg/platform/access"
	"toggleadmin/test/helper/assert"
)

func TestRisks(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)
	day := func(n int) *time.Time { return new(now.AddDate(0, 0, n)) }
	for _, test := range []struct {
		name          string
		role          access.Role
		expires, seen *time.Time
		created       time.Time
		want          string
	}{
		{"new API token", access.RoleAdmin, nil, nil, now, "[Admin, never expires]"},
		{"used API token", access.RoleAdmin, nil, day(-29), *day(-90), "[Admin, never expires]"},
		{"API token in use, which expires", access.RoleAdmin, day(365), day(0), *day(-90), "[]"},
		{"never used API token", access.RoleAdmin, nil, nil, *day(-30), "[Admin, never expires Admin, never used]"},
		{"not yet unused", access.RoleAdmin, day(1), nil, day(-30).Add(time.Second), "[]"},
		{"unused", access.RoleAdmin, day(1), day(-30), *day(-90), "[Admin, not used for 30 days]"},
		{"never used and long-lived", access.RoleAdmin, day(366), nil, *day(-90),
			"[Admin, never used expires in more than a year]"},
		{"unused token of an Editor", access.RoleEditor, day(1), nil, *day(-90), "[]"},
		{"long-lived token of a Viewer", access.RoleViewer, day(366), day(0), now, "[expires in more than a year]"},
		{"expired", access.RoleAdmin, day(0), nil, *day(-90), "[]"},
	} {
		use := access.TokenUse{Role: test.role, CreatedAt: test.created, ExpiresAt: test.expires, SeenAt: test.seen}
		if got := fmt.Sprint(use.Risks(now)); got != test.want {
			t.Errorf("%s: got %s, want %s", test.name, got, test.want)
		}
		use.Disabled = true
		assert.Equal(t, 0, len(use.Risks(now)))
	}
}

func TestCompareRisks(t *testing.T) {
	t.Parallel()
	ordered := [][]access.Risk{
		{access.RiskAdminNeverExpires, access.RiskAdminNeverUsed},
		{access.RiskAdminNeverExpires},
		{access.RiskAdminNeverUsed},
		{access.RiskAdminUnused, access.RiskLongLived},
		{access.RiskAdminUnused},
		{access.RiskLongLived},
		{},
	}
	reversed := slices.Clone(ordered)
	slices.Reverse(reversed)
	slices.SortFunc(reversed, access.CompareRisks)
	assert.Equal(t, fmt.Sprint(ordered), fmt.Sprint(reversed))
}
