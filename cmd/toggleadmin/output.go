package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf16"
)

// printJSON prints a value as indented JSON.
func printJSON(out io.Writer, v any) error { return writeJSON(out, v, "  ") }

// replaceFile replaces a file as a whole by one that only its owner can read. After an error, the file is as before.
func replaceFile(path string, write func(io.Writer) error) error {
	file, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*") // with the mode 0600
	if err != nil {
		return err
	}
	if err = errors.Join(write(file), file.Close()); err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(file.Name()))
	}
	return nil
}

// writeJSON writes a value as JSON, without an indent as one line. Characters that could control the terminal are
// escaped.
func writeJSON(out io.Writer, v any, indent string) error {
	var text strings.Builder
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", indent)
	if err := encoder.Encode(v); err != nil {
		return err
	}
	var escaped strings.Builder
	for _, r := range text.String() {
		if r == '\n' || unicode.IsPrint(r) {
			escaped.WriteRune(r)
			continue
		}
		for _, unit := range utf16.AppendRune(nil, r) {
			fmt.Fprintf(&escaped, `\u%04x`, unit)
		}
	}
	_, err := io.WriteString(out, escaped.String())
	return err
}

// printList prints values as JSON, or as a table with one row for each.
func printList[T any](s *session, values []T, columns []column[T]) error {
	if s.JSON {
		return printJSON(s.out, values)
	}
	return writeTable(s.out, s.width, columns, values)
}

// inform prints a line for people to stderr.
func (s *session) inform(format string, args ...any) {
	fmt.Fprintln(s.err, printable(fmt.Sprintf(format, args...)))
}

// warn prints what an operator should know before a change.
func (s *session) warn(warnings []string, err error) error {
	for _, warning := range warnings {
		s.inform("Warning: %s", warning)
	}
	return err
}

// result prints a result, as JSON or as text.
func (s *session) result(v any, format string, args ...any) error {
	if s.JSON {
		return printJSON(s.out, v)
	}
	_, err := fmt.Fprintln(s.out, printable(fmt.Sprintf(format, args...)))
	return err
}

// printProperties prints names and values, one line for each.
func (s *session) printProperties(properties [][2]string) error {
	for _, property := range properties {
		if _, err := fmt.Fprintf(s.out, "%-18s %s\n", property[0]+":", printable(cmp.Or(property[1], "-"))); err != nil {
			return err
		}
	}
	return nil
}

// stateResult prints the result of a command that sets a state.
func (s *session) stateResult(v any, changed bool, name, state string) error {
	if !changed {
		return s.result(v, "%s is already %s; nothing was changed", name, state)
	}
	return s.result(v, "%s is %s", name, state)
}

// printable replaces the characters that could control the terminal.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return unicode.ReplacementChar
	}, text)
}

// count returns a number of things, such as "1 event" or "2 events".
func count(n int, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return fmt.Sprintf("%d %s", n, thing)
}

// text returns a string, or "" for nil.
func text(p *string) string {
	if p == nil {
		return ""
	}
	return *p
}
