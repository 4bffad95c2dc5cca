package contract_test

import (
	"fmt"
	"maps"
	"testing"

	"toggleadmin/pkg/dynamo"
)

// traffic writes the counters of a path, day and shard.
func (s *service) traffic(t *testing.T, path, day string, shard int, counts dynamo.Item) {
	t.Helper()
	item := dynamo.Item{"period": dynamo.S(day[:7]), "pathDayShard": dynamo.S(fmt.Sprintf("%s#%s#%d", path, day, shard))}
	maps.Copy(item, counts)
	s.put(t, "Traffic", item)
}

// TestSection46_Report: "apiPath is the API's resource path; day is midnight UTC of a day with recorded usage; trafficTypes[].group:
// successful-requests first, then client-errors, server-errors, each only where counted. Sorted by apiPath, then day." Shards add up; other
// months and the markers of batches do not count.
func TestSection46_Report(t *testing.T) {
	t.Parallel()
	s := shared
	const lifetime, types = "/api/admin/feature-types/{id}/lifetime", "/api/admin/feature-types"
	n := dynamo.N
	s.traffic(t, types, "1987-02-28", 0, dynamo.Item{"successfulRequests": n(1)})
	s.traffic(t, types, "1987-02-28", 7, dynamo.Item{"successfulRequests": n(2), "serverErrors": n(4)})
	s.traffic(t, types, "1987-02-28", 3, dynamo.Item{"clientErrors": n(5_000_000_000)})
	s.traffic(t, types, "1987-02-09", 3, dynamo.Item{"serverErrors": n(1)})
	s.traffic(t, types, "1987-02-10", 3, dynamo.Item{"clientErrors": n(1)})
	s.traffic(t, types, "1987-02-11", 3, dynamo.Item{"successfulRequests": n(0), "clientErrors": n(0)})
	s.traffic(t, lifetime, "1987-02-01", 0, dynamo.Item{"successfulRequests": n(1), "clientErrors": n(2), "serverErrors": n(3)})
	s.traffic(t, "/api/admin/context", "1987-02-02", 1, dynamo.Item{"successfulRequests": n(9)})
	s.traffic(t, types, "1987-03-01", 0, dynamo.Item{"successfulRequests": n(100)})
	s.traffic(t, types, "1987-01-31", 0, dynamo.Item{"successfulRequests": n(100)})
	s.put(t, "Traffic", dynamo.Item{"period": dynamo.S("batch#1987-02"), "pathDayShard": dynamo.S("-")})
	a := s.send(t, get(trafficPath("1987-02")).as(s.admin(t))).want(t, 200)
	const want = `{"period":"1987-02","apiData":[` +
		`{"apiPath":"/api/admin/context","days":[{"day":"1987-02-02T00:00:00.000Z","trafficTypes":[{"group":"successful-requests","count":9}]}]},` +
		`{"apiPath":"/api/admin/feature-types","days":[` +
		`{"day":"1987-02-09T00:00:00.000Z","trafficTypes":[{"group":"server-errors","count":1}]},` +
		`{"day":"1987-02-10T00:00:00.000Z","trafficTypes":[{"group":"client-errors","count":1}]},` +
		`{"day":"1987-02-28T00:00:00.000Z","trafficTypes":[{"group":"successful-requests","count":3},` +
		`{"group":"client-errors","count":5000000000},{"group":"server-errors","count":4}]}]},` +
		`{"apiPath":"/api/admin/feature-types/{id}/lifetime","days":[{"day":"1987-02-01T00:00:00.000Z","trafficTypes":[` +
		`{"group":"successful-requests","count":1},{"group":"client-errors","count":2},{"group":"server-errors","count":3}]}]}]}`
	if a.body != want {
		t.Errorf("got  %s\nwant %s", a.body, want)
	}
}

// TestSection46_LargeReport: a month of all paths on all days, in all shards, is more than one page of DynamoDB's.
func TestSection46_LargeReport(t *testing.T) {
	t.Parallel()
	s := shared
	const days, shards = 31, 8
	for day := 1; day <= days; day++ {
		for shard := range shards {
			s.traffic(t, "/api/admin/context", fmt.Sprintf("1988-01-%02d", day), shard, dynamo.Item{"successfulRequests": dynamo.N(int64(day))})
		}
	}
	var report struct {
		Period  string
		APIData []struct {
			APIPath string
			Days    []struct {
				Day          string
				TrafficTypes []struct {
					Group string
					Count int64
				}
			}
		}
	}
	s.send(t, get(trafficPath("1988-01")).as(s.admin(t))).want(t, 200).decode(t, &report)
	if len(report.APIData) != 1 || len(report.APIData[0].Days) != days {
		t.Fatalf("%+v", report)
	}
	for i, day := range report.APIData[0].Days {
		if want := fmt.Sprintf("1988-01-%02dT00:00:00.000Z", i+1); day.Day != want || day.TrafficTypes[0].Count != int64(i+1)*shards {
			t.Errorf("%+v, want %s", day, want)
		}
	}
}

// TestSection46_Period: "period is YYYY-MM (year 0001–9999, month 01–12), else 400 naming /params/period. A month without data: 200, apiData
// []."
func TestSection46_Period(t *testing.T) {
	t.Parallel()
	s := shared
	admin := s.admin(t)
	for _, period := range []string{"0001-01", "1999-12", "2024-02", "9999-12"} {
		t.Run("200 for "+period, func(t *testing.T) {
			t.Parallel()
			if a := s.send(t, get(trafficPath(period)).as(admin)).want(t, 200); a.body != `{"period":"`+period+`","apiData":[]}` {
				t.Error(a.body)
			}
		})
	}
	for name, period := range map[string]string{
		"month 13": "2026-13", "month 00": "2026-00", "year 0": "0000-01", "one digit": "2026-1", "a day": "2026-11-20", "a year": "2026", "five digits": "12026-01", "three digits": "026-01",
		"a sign": "+2026-01", "a slash": "2026%2F01", "no hyphen": "202601", "white space": "%202026-01", "white space behind": "2026-01%20", "a line break": "2026-01%0A", "letters": "2026-Nov",
		"other digits": "%D9%A2026-01", "a hyphen of Unicode": "2026%E2%80%9101", "a batch's marker": "batch%23x", "a byte 0": "2026-01%00", "minus": "-026-01", "now": "current",
	} {
		t.Run("400 for "+name, func(t *testing.T) {
			t.Parallel()
			m := s.send(t, get(trafficPath(period)).as(admin)).wantError(t, 400).Message
			if want := "The `/params/period` property must be "; len(m) < len(want) || m[:len(want)] != want {
				t.Errorf("message %q", m)
			}
		})
	}
}
