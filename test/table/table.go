// Package table reads test cases from tables.
package table

import (
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// Rows returns the cells of each line of a text. Empty lines and lines that begin with # are left out. A bar with a
// space on at least one side separates cells. A cell in double quotes is a Go string. Every row has the given number of
// cells. The text 3×x stands for xxx, and 3×(ab) for ababab.
func Rows(tb testing.TB, cells int, text string) (rows [][]string) {
	tb.Helper()
	for line := range strings.Lines(repetition.ReplaceAllStringFunc(text, repeat)) {
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

// repetition is a number and what is repeated: a character, or a text in parentheses.
var repetition = regexp.MustCompile(`\d+×(\([^)]*\)|.)`)

func repeat(match string) string {
	number, unit, _ := strings.Cut(match, "×")
	n, _ := strconv.Atoi(number)
	return strings.Repeat(strings.Trim(unit, "()"), n)
}
