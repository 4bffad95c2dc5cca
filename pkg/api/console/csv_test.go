package console_test

import (
	"testing"

	"toggleadmin/test/helper/assert"
)

func TestCSVRows(t *testing.T) {
	t.Parallel()
	tests := []struct {
		text string
		rows [][]string
	}{
		{"DE\nAT\n", [][]string{{"DE"}, {"AT"}}},
		{"DE,Germany\r\nAT,Austria", [][]string{{"DE", "Germany"}, {"AT", "Austria"}}},
		{"\ufeffDE;Germany, south\n\nAT;Austria", [][]string{{"DE", "Germany, south"}, {"AT", "Austria"}}},
		{"DE\tGermany", [][]string{{"DE", "Germany"}}},
		{`"a, ""b""","two` + "\n" + `lines",c`, [][]string{{`a, "b"`, "two\nlines", "c"}}},
		{`"not closed`, [][]string{{"not closed"}}},
		{"", [][]string{}},
	}
	input, want := []string{}, [][][]string{}
	for _, test := range tests {
		input, want = append(input, test.text), append(want, test.rows)
	}
	assert.Equal(t, want, runModule[[][][]string](t, "csv.js", input, `input.map((text) => csvRows(text))`))
}

// No part of a text becomes a formula, wherever a spreadsheet begins a cell.
func TestCSV(t *testing.T) {
	t.Parallel()
	tests := []struct {
		value any
		cell  string
	}{
		{"plain", "plain"},
		{`a "b", c`, `"a ""b"", c"`},
		{"=1+1", "'=1+1"},
		{"-1", "'-1"},
		{-1, "-1"},
		{nil, ""},
		{"\t=1", "'\t'=1"},
		{"a;=1+cmd|'/C calc'!A0;b", "a;'=1+cmd|'/C calc'!A0;b"},
		{"a; b - c", "a; b - c"},
		{"a\n@b", "\"a\n'@b\""},
		{"＝1", "'＝1"},
		{"a;＋1", "a;'＋1"},
	}
	input, want := [][][]any{}, []string{}
	for _, test := range tests {
		input, want = append(input, [][]any{{test.value}}), append(want, test.cell+"\r\n")
	}
	assert.Equal(t, want, runModule[[]string](t, "csv.js", input, `input.map(csv)`))
}

// A file is read in UTF-8, or in UTF-16 if it says so. Another encoding is not guessed.
func TestFileText(t *testing.T) {
	t.Parallel()
	tests := []struct {
		bytes []int
		text  any
	}{
		{[]int{'Z', 0xc3, 0xbc, 'r'}, "Zür"},
		{[]int{0xef, 0xbb, 0xbf, 'a'}, "a"},
		{[]int{0xff, 0xfe, 'a', 0, 0xfc, 0}, "aü"},
		{[]int{0xfe, 0xff, 0, 'a'}, "a"},
		{[]int{'Z', 0xfc, 'r', 'i', 'c', 'h'}, nil}, // Windows-1252
		{[]int{}, ""},
	}
	input, want := [][]int{}, []any{}
	for _, test := range tests {
		input, want = append(input, test.bytes), append(want, test.text)
	}
	assert.Equal(t, want, runModule[[]any](t, "csv.js", input, `input.map((bytes) => fileText(new Uint8Array(bytes)))`))
}

// A pasted list has a value in each row, or between commas. A single value is no list.
func TestPastedValues(t *testing.T) {
	t.Parallel()
	tests := []struct {
		text   string
		values []string
	}{
		{"12345", nil},
		{" a b ", nil},
		{"a,b, c,", []string{"a", "b", "c"}},
		{"US \tUnited States", []string{"US"}},
		{"US \tUnited States\r\n\r\nDE\u00a0\tGermany, south", []string{"US", "DE"}},
		{"a\n", []string{"a"}},
	}
	input, want := []string{}, [][]string{}
	for _, test := range tests {
		input, want = append(input, test.text), append(want, test.values)
	}
	assert.Equal(t, want, runModule[[][]string](t, "pasted.js", input, `input.map(pastedValues)`))
}
