package deploy_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	mathrand "math/rand/v2"
	"net/http"
	"time"

	"github.com/google/go-cmp/cmp"

	"toggleadmin/pkg/datetime"
	"toggleadmin/test/accesslog"
)

// streamPrefix begins the names of the log streams that are written here.
const streamPrefix = "requests-"

// tryTraffic puts lines of the access log's format into its group, since the emulator writes none, and waits until 4.6 reports them.
func tryTraffic(ctx context.Context, s *stack, patience time.Duration) error {
	now := time.Now().UTC()
	const context, types, create = "/api/admin/context", "/api/admin/feature-types", "/api/admin/service-account/{id}/token"
	sent := []struct {
		method, path, group string
		status, times       int
	}{
		{http.MethodGet, context, "successful-requests", 200, 5},
		{http.MethodGet, context, "client-errors", 401, 3},
		{http.MethodPost, create, "successful-requests", 201, 2},
		{http.MethodPost, create, "client-errors", 409, 1},
		{http.MethodGet, types, "server-errors", 503, 4},
		{http.MethodGet, "/{proxy+}", "", 404, 6}, // nobody's usage
	}
	want, err := s.usage(ctx, now)
	if err != nil {
		return err
	}
	first := mathrand.IntN(1 << 30) // makes the lines' ids others than those of an earlier try
	var lines []accesslog.Line
	for _, kind := range sent {
		for range kind.times {
			lines = append(lines, accesslog.Line{N: first + len(lines), Time: now, Method: kind.method, Path: kind.path, Status: kind.status})
		}
		if kind.group != "" {
			want[usageKey(kind.path, now, kind.group)] += int64(kind.times)
		}
	}
	messages, err := s.accessLog(lines)
	if err != nil {
		return err
	}
	if err := s.writeLog(ctx, s.physicalID("AccessLogs"), streamPrefix+rand.Text(), messages); err != nil {
		return err
	}
	return within(ctx, patience, func() error {
		got, err := s.usage(ctx, now)
		if err == nil && !maps.Equal(want, got) {
			err = fmt.Errorf("the reported usage:\n%s", cmp.Diff(want, got))
		}
		return err
	})
}

// accessLog writes requests as the stack's API would.
func (s *stack) accessLog(lines []accesslog.Line) ([]string, error) {
	format := text(s.template.get("Resources", "Api", "Properties", "AccessLogSetting", "Format"))
	if format == "" {
		return nil, errors.New("the template's API has no access log")
	}
	delivery, err := accesslog.Delivery("requests", format, lines)
	if err != nil {
		return nil, err
	}
	return accesslog.Messages(delivery.AWSLogs.Data)
}

func usageKey(path string, day time.Time, group string) string {
	return path + " " + datetime.Format(day.Truncate(24 * time.Hour))[:len(time.DateOnly)] + " " + group
}

// usage gives what 4.6 reports of a month: path, day and group → count.
func (s *stack) usage(ctx context.Context, month time.Time) (map[string]int64, error) {
	path := "/api/admin/metrics/traffic/" + month.Format("2006-01")
	answer, err := s.request(ctx, http.MethodGet, path, s.credentials.Users[0].PAT, "", http.StatusOK)
	if err != nil {
		return nil, err
	}
	var report struct {
		APIData []struct {
			APIPath string `json:"apiPath"`
			Days    []struct {
				Day          time.Time `json:"day"`
				TrafficTypes []struct {
					Group string `json:"group"`
					Count int64  `json:"count"`
				} `json:"trafficTypes"`
			} `json:"days"`
		} `json:"apiData"`
	}
	if err := answer.into(&report); err != nil {
		return nil, err
	}
	counts := map[string]int64{}
	for _, api := range report.APIData {
		for _, day := range api.Days {
			for _, group := range day.TrafficTypes {
				counts[usageKey(api.APIPath, day.Day, group.Group)] = group.Count
			}
		}
	}
	return counts, nil
}
