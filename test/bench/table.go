package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// printTable writes a Markdown table, aligned for the eye, with a title and the method.
func printTable(title, method string, header []string, rows [][]string) {
	fmt.Printf("\n### %s\n\n%s\n\n", title, method)
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 1, ' ', 0)
	line := func(cells []string) { fmt.Fprintf(w, "| %s\t|\n", strings.Join(cells, "\t| ")) }
	line(header)
	rule := make([]string, len(header))
	for i := range rule {
		rule[i] = "---"
	}
	line(rule)
	for _, row := range rows {
		line(row)
	}
	_ = w.Flush() // to stdout
}

// median of an odd or even number of values; it sorts them.
func median[T ~int64 | ~float64](values []T) T {
	slices.Sort(values)
	return values[len(values)/2]
}

func percentile(sorted []time.Duration, p float64) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[min(int(float64(len(sorted))*p), len(sorted)-1)]
}

func milliseconds(d time.Duration) string {
	return fmt.Sprintf("%.2f", float64(d.Microseconds())/1000)
}
