package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"unicode"
)

// printJSON prints a value as indented JSON.
func printJSON(out io.Writer, v any) error {
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(v); err != nil {
		return fmt.Errorf("print: %w", err)
	}
	return nil
}

// printTable prints rows under a header, in columns.
func printTable(out io.Writer, header []string, rows [][]string) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, row := range append([][]string{header}, rows...) {
		cells := make([]string, len(row))
		for i, cell := range row {
			if cell = printable(cell); cell == "" {
				cell = "-"
			}
			cells[i] = cell
		}
		fmt.Fprintln(w, strings.Join(cells, "\t"))
	}
	if err := w.Flush(); err != nil {
		return fmt.Errorf("print: %w", err)
	}
	return nil
}

// say prints a line for people: nothing that a script should read.
func (s *session) say(format string, args ...any) {
	fmt.Fprintln(s.err, printable(fmt.Sprintf(format, args...)))
}

// result prints what a command did: JSON, or the text.
func (s *session) result(v any, format string, args ...any) error {
	if s.JSON {
		return printJSON(s.out, v)
	}
	if _, err := fmt.Fprintln(s.out, printable(fmt.Sprintf(format, args...))); err != nil {
		return fmt.Errorf("print: %w", err)
	}
	return nil
}

// printable shows what others have named without letting it move the cursor or turn the line round.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r == ' ' || unicode.IsPrint(r) {
			return r
		}
		return unicode.ReplacementChar
	}, text)
}

// text is what stands behind a pointer; empty behind none.
func text(p *string) string {
	if p == nil {
		return ""
	}
	return *p
}
