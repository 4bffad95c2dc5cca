package main_test

import (
	"strings"
	"testing"
	"time"

	main "toggleadmin/cmd/toggleadmin"
	"toggleadmin/test/helper/assert"
)

func TestTable(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("checkout-", 6)
	for _, test := range []struct {
		name  string
		width int // 0: not a terminal
		rows  [][3]string
		want  string
	}{
		{"empty cell", 80, [][3]string{{"1", "", "x"}}, `
ID  NAME  DESCRIPTION
1   -     x
`},
		{"fits", 40, [][3]string{{"1", "checkout", "The new page"}, {"200", "dark-mode", "Colors"}}, `
ID   NAME       DESCRIPTION
1    checkout   The new page
200  dark-mode  Colors
`},
		{"the column that is cut first", 33, [][3]string{{"1", "checkout", "The new page of the shop"}}, `
ID  NAME      DESCRIPTION
1   checkout  The new page of th…
`},
		{"both columns", 30, [][3]string{{"1", long, "The new page"}, {"2", "dark-mode", "Colors"}}, `
ID  NAME              DESCRIP…
1   checkout…eckout-  The new…
2   dark-mode         Colors
`},
		{"narrower than the columns", 10, [][3]string{{"1234567890", long, "The new page"}}, `
ID          NAME      DESCRIP…
1234567890  chec…ut-  The new…
`},
		{"not a terminal", 0, [][3]string{{"1", long, "x"}, {"2", "dark-mode", "y"}}, `
ID  NAME                                      DESCRIPTION
1   ` + long + `  x
2   dark-mode                                 y
`},
		{"wide and combining characters", 29, [][3]string{{"1", "日本語の名前です", "x"}, {"2", "Ade\u0301", "y"}}, `
ID  NAME             DESCRIP…
1   日本語の…前です  x
2   Ade` + "\u0301" + `              y
`},
		{"control characters", 80, [][3]string{{"1", "a\x1b[31m", "x"}}, `
ID  NAME    DESCRIPTION
1   a�[31m  x
`},
	} {
		var out strings.Builder
		assert.OK(t, main.WriteTable(&out, test.width, test.rows))
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
	assert.Equal(t, "in 7978y", main.Relative(time.Date(9999, 12, 31, 23, 59, 59, 999_000_000, time.UTC), now))
	assert.Equal(t, "2027y ago", main.Relative(time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC), now))
}
