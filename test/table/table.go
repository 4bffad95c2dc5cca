// Package table reads test cases from tables.
package table

import (
	"strconv"
	"strings"
	"testing"
)

// Rows returns the cells of each line of a text. Empty lines and lines that begin with # are left out. A bar with a
// space on at least one side separates cells. A cell in double quotes is a Go string. Every row has the given number of
// cells.
func Rows(tb testing.TB, cells int, text string) (rows [][]string) {
	tb.Helper()
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		row := strings.Split(strings.ReplaceAll(" "+line+" ", "| ", " |"), " |")
		if len(row) != cells {
			tb.Fatalf("the row %q has %d cells, not %d", line, len(row), cells)
		}
		for i, cell := range row {
			row[i] = strings.TrimSpace(cell)
			if unquoted, err := strconv.Unquote(row[i]); err == nil && row[i][0] == '"' {
				row[i] = unquoted
			}
		}
		rows = append(rows, row)
	}
	return rows
}
