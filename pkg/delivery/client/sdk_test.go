package client_test

import (
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"toggleadmin/pkg/delivery/clienttokentable"
	"toggleadmin/pkg/delivery/usage"
	"toggleadmin/pkg/toggle"
	"toggleadmin/test/helper/assert"
)

// The registrations and reports of SDKs are understood. test/sdk records them, with the flag -update.
func TestReportsOfSDKs(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		instance, sdk string // of the registration; browsers do not register
		counts        usage.Counts
	}{
		"UnleashClient-5":        {"unleash-client-python", "unleash-client-python:5.12.5", counts(20, 1, "disabled", 10)},
		"UnleashClient-6":        {"unleash-python-sdk", "unleash-python-sdk:6.9.1", counts(26, 0, "disabled", 13)},
		"unleash-client-3":       {"ada-web-1", "unleash-client-node:3.21.0", counts(10, 10, "disabled", 10)},
		"unleash-client-5":       {"ada-web-1", "unleash-client-node:5.6.1", counts(14, 2, "disabled", 8)},
		"unleash-client-6":       {"ada-web-1", "unleash-node-sdk:6.12.1", counts(18, 0, "disabled", 9)},
		"unleash-client-go-4":    {"ada-web-1", "unleash-client-go:4.5.0", counts(8, 1, "disabled", 4)},
		"unleash-client-java-9":  {"test", "unleash-client-java:9.2.0", counts(22, 1, "disabled", 11)},
		"unleash-client-java-12": {"test", "unleash-java-sdk:12.2.3", counts(14, 1, "disabled", 7)},
		"unleash-go-sdk-5":       {"ada-web-1", "unleash-go-sdk:5.1.0", counts(14, 0, "disabled", 7)},
		"unleash-proxy-client-2": {"", "", counts(16, 36, "disabled", 26)},
		"unleash-proxy-client-3": {"", "", counts(14, 40, "disabled", 27)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			f.put("web", "switched", toggle.Strategy{})
			f.compile()
			recorded := time.Date(2026, 11, 27, 8, 53, 0, 0, time.UTC)
			sentAt := recorded.Add(10 * time.Minute)
			f.now = sentAt
			h := f.process()
			send := func(path, token, kind string) {
				body, err := os.ReadFile(filepath.Join("testdata", name+"."+kind+".json"))
				assert.OK(t, err)
				got := call(h, "POST", path, token, string(body))
				assert.Equal(t, true, got.status == http.StatusOK || got.status == http.StatusAccepted)
			}
			if test.instance == "" {
				send("/api/frontend/client/metrics", f.token(clienttokentable.Frontend), "metrics")
			} else {
				backend := f.token(clienttokentable.Backend)
				send("/api/client/register", backend, "register")
				send("/api/client/metrics", backend, "metrics")
				f.now = f.now.Add(10 * time.Minute)
				poll(h, backend, "") // which writes
				assert.Equal(t, usage.Instance{SDK: test.sdk, SeenAt: sentAt}, f.presence()["sdk"].Instances[test.instance])
			}
			assert.Equal(t, test.counts, f.tally(recorded).Features["switched"]["sdk"])
		})
	}
}
