package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// printTable writes a Markdown table, aligned for the eye, with a title and the method. Durations are in milliseconds.
func printTable(title, method string, header []any, rows [][]any) {
	fmt.Printf("\n### %s\n\n%s\n\n", title, method)
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 1, ' ', 0)
	for _, row := range slices.Concat([][]any{header, slices.Repeat([]any{"---"}, len(header))}, rows) {
		cells := make([]string, len(row))
		for i, cell := range row {
			switch value := cell.(type) {
			case time.Duration:
				cells[i] = fmt.Sprintf("%.2f", value.Seconds()*1000)
			case float64:
				cells[i] = fmt.Sprintf("%.2f", value)
			default:
				cells[i] = fmt.Sprint(value)
			}
		}
		fmt.Fprintf(w, "| %s\t|\n", strings.Join(cells, "\t| "))
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

func ratio(a, b time.Duration) float64 { return float64(a) / float64(b) }
