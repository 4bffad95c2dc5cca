package main_test

import (
	"strings"
	"testing"
	"time"

	main "toggleadmin/cmd/toggleadmin"
	"toggleadmin/test/assert"
)

func TestTable(t *testing.T) {
	t.Parallel()
	columns := []string{"ID", "NAME", "FIELDS"}
	long := strings.Repeat("checkout-", 6)
	for _, test := range []struct {
		name  string
		width int // 0: not a terminal
		rows  [][]string
		want  string
	}{
		{"empty cell", 80, [][]string{{"1", "", "x"}}, `
ID  NAME  FIELDS
1   -     x
`},
		{"fits", 40, [][]string{{"1", "checkout", "userId"}, {"200", "dark-mode", "appName"}}, `
ID   NAME       FIELDS
1    checkout   userId
200  dark-mode  appName
`},
		{"cut", 36, [][]string{{"1", long, "x"}, {"2", "dark-mode", "appName userId"}}, `
ID  NAME              FIELDS
1   checkout-checko…  x
2   dark-mode         appName userId
`},
		{"narrower than the columns", 10, [][]string{{"1234567890", long, "appName userId"}}, `
ID          NAME      FIELDS
1234567890  checkou…  appName…
`},
		{"not a terminal", 0, [][]string{{"1", long, "x"}, {"2", "dark-mode", "appName"}}, `
ID  NAME                                      FIELDS
1   ` + long + `  x
2   dark-mode                                 appName
`},
		{"wide and combining characters", 26, [][]string{{"1", "日本語の名前です", "x"}, {"2", "Ade\u0301", "appName"}}, `
ID  NAME           FIELDS
1   日本語の名前…  x
2   Ade` + "\u0301" + `            appName
`},
		{"control characters", 80, [][]string{{"1", "a\x1b[31m", "x"}}, `
ID  NAME    FIELDS
1   a�[31m  x
`},
	} {
		var out strings.Builder
		assert.OK(t, main.WriteTable(&out, test.width, columns, "ID", test.rows))
		if got := "\n" + out.String(); got != test.want {
			t.Errorf("%s: got%s", test.name, got)
		}
	}
}

func TestRelative(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)
	const day = 24 * time.Hour
	for _, test := range []struct {
		after time.Duration
		want  string
	}{
		{0, "now"},
		{-59 * time.Second, "now"},
		{-time.Minute, "1m ago"},
		{time.Hour, "in 1h"},
		{-47 * time.Hour, "47h ago"},
		{-2 * day, "2d ago"},
		{90*day - time.Second, "in 90d"},
		{2 * 365 * day, "in 2y"},
		{-56 * 365 * day, "56y ago"},
	} {
		assert.Equal(t, test.want, main.Relative(now.Add(test.after), now))
	}
}
