package usage_test

import (
	"math"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestCosts checks the table of docs/costs.md: the units are counted, and the dollars are computed from the page's prices.
func TestCosts(t *testing.T) { //nolint:tparallel // one request at a time is counted
	t.Parallel()
	page, err := os.ReadFile("../../docs/costs.md")
	if err != nil {
		t.Fatal(err)
	}
	price := func(what string) float64 { return cell(t, tableRow(t, string(page), what), 1) }
	s := start(t)
	s.calls(t, "GET /api/admin/context", "new", "") // seenAt is current
	for _, tt := range []struct{ name, request, as, body string }{
		{"update feedback", "PUT /api/admin/feedback/costs", "admin", `{"neverShow":true}`},
		{"list feature types", "GET /api/admin/feature-types", "admin", ""},
		{"update a lifetime", "PUT /api/admin/feature-types/release/lifetime", "admin", `{"lifetimeDays":3}`},
		{"list context fields", "GET /api/admin/context", "admin", ""},
		{"create a token", "POST /api/admin/service-account/4/token", "admin", `{"description":"costs","expiresAt":"2199-01-01T00:00:00Z"}`},
		{"report traffic", "GET /api/admin/metrics/traffic/2026-11", "admin", ""},
		{"delete own token", "DELETE /api/admin/user/tokens/4", "new", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			row := tableRow(t, string(page), tt.name)
			_, calls := s.calls(t, tt.request, tt.as, tt.body)
			reads, writes := total(calls, "r"), total(calls, "w")
			if reads != cell(t, row, 3) || writes != cell(t, row, 4) {
				t.Errorf("counted %v read units and %v write units: %v", reads, writes, calls)
			}
			const functions, gigabytes, megabytesLogged = 2, 0.5, 0.3 + 2*0.5
			seconds := (cell(t, row, 1) + cell(t, row, 2)) / 1000
			want := []float64{
				price("API Gateway, REST API"),
				functions*price("Lambda, requests") + 1e6*seconds*gigabytes*price("Lambda, arm64"),
				reads*price("DynamoDB, read request units") + writes*price("DynamoDB, write request units"),
				megabytesLogged * price("CloudWatch Logs, ingestion"),
			}
			sum := 0.0
			for i, dollars := range want {
				sum += dollars
				if got := cell(t, row, 5+i); math.Abs(got-dollars) > 0.0051 {
					t.Errorf("column %d is $%.2f, want $%.3f", 5+i, got, dollars)
				}
			}
			if got := cell(t, row, 9); math.Abs(got-sum) > 0.0051 {
				t.Errorf("the sum is $%.2f, want $%.3f", got, sum)
			}
		})
	}
}

// total sums the read units (r) or write units (w) of calls.
func total(calls []string, unit string) float64 {
	sum := 0.0
	for _, call := range calls {
		for _, m := range regexp.MustCompile(`([\d.]+)`+unit+`\b`).FindAllStringSubmatch(call, -1) {
			n, _ := strconv.ParseFloat(m[1], 64)
			sum += n
		}
	}
	return sum
}

func tableRow(t *testing.T, page, first string) []string {
	t.Helper()
	for line := range strings.Lines(page) {
		if cells := strings.Split(strings.Trim(line, "| \n"), " | "); cells[0] == first {
			return cells
		}
	}
	t.Fatalf("docs/costs.md has no row %q", first)
	return nil
}

func cell(t *testing.T, row []string, column int) float64 {
	t.Helper()
	if column >= len(row) {
		t.Fatalf("row %q has no column %d", row[0], column)
	}
	n, err := strconv.ParseFloat(row[column], 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}
