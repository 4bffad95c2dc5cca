package console_test

import (
	"testing"

	"toggleadmin/test/assert"
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
