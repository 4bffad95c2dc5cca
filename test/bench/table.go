package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// printTable writes a Markdown table with aligned columns, a title and the method, which is a format. Bars separate the
// cells of the header. Durations are in milliseconds.
func printTable(title, header string, rows [][]any, method string, args ...any) {
	fmt.Printf("\n### %s\n\n"+method+"\n\n", append([]any{title}, args...)...)
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 1, ' ', 0)
	names := strings.Split(header, "|")
	fmt.Fprintf(w, "|%s\t|\n%s|\n", strings.Join(names, "\t|"), strings.Repeat("| ---\t", len(names)))
	for _, row := range rows {
		for _, cell := range row {
			if d, ok := cell.(time.Duration); ok {
				cell = d.Seconds() * 1000
			}
			if f, ok := cell.(float64); ok {
				cell = fmt.Sprintf("%.2f", f)
			}
			fmt.Fprintf(w, "| %v\t", cell)
		}
		fmt.Fprintln(w, "|")
	}
	_ = w.Flush() // to stdout
}

// median sorts the values.
func median[T ~int64 | ~float64](values []T) T { return percentile(values, 0.5) }

// percentile sorts the values. If there are none, it is 0.
func percentile[T ~int64 | ~float64](values []T, p float64) T {
	if len(values) == 0 {
		return 0
	}
	slices.Sort(values)
	return values[min(int(float64(len(values))*p), len(values)-1)]
}

// ratio returns the ratio of two medians.
func ratio(a, b []time.Duration) float64 { return float64(median(a)) / float64(median(b)) }
