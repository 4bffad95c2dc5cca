package main

import (
	"fmt"
	"io"
	"strings"
	"time"
	"unicode"

	"golang.org/x/text/width"

	"toggleadmin/pkg/platform/datetime"
)

// column is a column of a table.
type column[T any] struct {
	name string
	cell func(T) string // an empty cell is shown as -
	cut  cut            // whether its cells can be cut to fit the terminal
	// whether cells are cut in the middle: names that begin alike differ at their end
	isName bool
}

// cut is when the cells of a column are cut.
type cut int

const (
	never cut = iota
	cutLast
	cutFirst // before those with cutLast
)

const (
	columnGap = "  "
	// maxColumn is the greatest width of a column. A longer cell is cut on a terminal. Elsewhere it moves the rest of its
	// row, so that one long name does not make all rows long.
	maxColumn = 40
	// minColumn is the width that a column keeps on a narrow terminal.
	minColumn = 8
)

// writeTable writes a table with one row for each value. Its rows fit into limit columns of the terminal, unless it
// has too much that cannot be cut. A limit of 0 means that nothing is cut.
func writeTable[T any](out io.Writer, limit int, columns []column[T], values []T) error {
	rows := make([][]string, 1+len(values))
	for _, c := range columns {
		rows[0] = append(rows[0], c.name)
		for i, v := range values {
			cell := printable(c.cell(v))
			if cell == "" {
				cell = "-"
			}
			rows[i+1] = append(rows[i+1], cell)
		}
	}
	widths := columnWidths(rows)
	if limit > 0 {
		shrink(columns, widths, limit)
	}
	for _, row := range rows {
		if limit > 0 {
			for i, c := range columns {
				if c.cut != never {
					row[i] = shorten(row[i], widths[i], c.isName)
				}
			}
		}
		if err := writeRow(out, row, widths); err != nil {
			return err
		}
	}
	return nil
}

// columnWidths returns the width of each column. Only the last one can be wider than maxColumn.
func columnWidths(rows [][]string) []int {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], displayWidth(cell))
			if i < len(row)-1 {
				widths[i] = min(widths[i], maxColumn)
			}
		}
	}
	return widths
}

// shrink makes the widest columns that can be cut narrower, until the table fits into limit columns of the
// terminal.
func shrink[T any](columns []column[T], widths []int, limit int) {
	total := len(columnGap) * (len(widths) - 1)
	for _, w := range widths {
		total += w
	}
	for _, order := range []cut{cutFirst, cutLast} {
		for ; total > limit; total-- {
			widest := -1
			for i, c := range columns {
				if c.cut == order && widths[i] > minColumn && (widest < 0 || widths[i] > widths[widest]) {
					widest = i
				}
			}
			if widest < 0 {
				break
			}
			widths[widest]--
		}
	}
}

// shorten cuts a text to a width, at its end or in the middle.
func shorten(text string, limit int, middle bool) string {
	if displayWidth(text) <= limit {
		return text
	}
	runes := []rune(text)
	head, tail := 0, len(runes)
	room := limit - displayWidth("…")
	for fromEnd := false; ; fromEnd = middle && !fromEnd {
		next := runes[head]
		if fromEnd {
			next = runes[tail-1]
		}
		if room -= displayWidth(string(next)); room < 0 {
			return string(runes[:head]) + "…" + string(runes[tail:])
		}
		if fromEnd {
			tail--
		} else {
			head++
		}
	}
}

// displayWidth returns the number of columns of a terminal that a text takes.
func displayWidth(text string) (n int) {
	for _, r := range text {
		switch kind := width.LookupRune(r).Kind(); {
		case unicode.Is(unicode.Mn, r): // combines with the character before it
		case kind == width.EastAsianWide || kind == width.EastAsianFullwidth:
			n += 2
		default:
			n++
		}
	}
	return n
}

func writeRow(out io.Writer, row []string, widths []int) error {
	var line strings.Builder
	for i, cell := range row {
		line.WriteString(cell)
		if i < len(row)-1 {
			padding := max(0, widths[i]-displayWidth(cell))
			line.WriteString(strings.Repeat(" ", padding) + columnGap)
		}
	}
	_, err := fmt.Fprintln(out, line.String())
	return err
}

// The units of relative times, in seconds.
const (
	minute = 60
	hour   = 60 * minute
	day    = hoursPerDay * hour
	year   = 365 * day
)

// relative returns a time as a table shows it: a duration before or after now, such as "3d ago" or "in 90d".
func relative(t, now time.Time) string {
	seconds := t.Unix() - now.Unix() // a time.Duration has at most 292 years
	length := max(seconds, -seconds)
	var amount string
	switch {
	case length < minute:
		return "now"
	case length < hour:
		amount = rounded(length, minute) + "m"
	case length < 2*day:
		amount = rounded(length, hour) + "h"
	case length < 2*year:
		amount = rounded(length, day) + "d"
	default:
		amount = rounded(length, year) + "y"
	}
	if seconds < 0 {
		return amount + " ago"
	}
	return "in " + amount
}

// relative returns a time of an API response as a table shows it.
func (s *session) relative(at *string) string {
	if at == nil {
		return "never"
	}
	t, err := datetime.Parse(*at)
	if err != nil {
		return *at
	}
	return relative(t, s.now())
}

// localTime returns a time of an API response in the time zone of the process, to the second.
func localTime(at *string) string {
	if at == nil {
		return ""
	}
	t, err := datetime.Parse(*at)
	if err != nil {
		return *at
	}
	return t.Local().Format("2006-01-02 15:04:05 MST")
}

func rounded(seconds, unit int64) string { return fmt.Sprint((seconds + unit/2) / unit) }
