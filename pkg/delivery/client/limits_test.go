package client_test

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"toggleadmin/pkg/api/featuretable"
	"toggleadmin/pkg/delivery/client"
	"toggleadmin/pkg/delivery/clienttokentable"
	"toggleadmin/pkg/delivery/snapshot"
	"toggleadmin/pkg/delivery/snapshottable"
	"toggleadmin/pkg/evaluation"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/lambdahttp"
	"toggleadmin/pkg/toggle"
	"toggleadmin/test/helper/assert"
)

// body is the body of a request that remembers how much of it was read.
type body struct {
	io.Reader
	read int
}

func (b *body) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	b.read += n
	return n, err
}

// send sends a body of some spaces, and returns the status and how much of the body was read.
func send(h *client.Handler, path, token string, size int, declared bool) (status, read int) {
	content := &body{Reader: strings.NewReader(strings.Repeat(" ", size))}
	r := httptest.NewRequest(http.MethodPost, path, content)
	if declared {
		r.ContentLength = int64(size)
	}
	r.Header.Set("Authorization", token)
	w := httptest.NewRecorder()
	if err := h.Serve(w, r); err != nil {
		return lambdahttp.Status(apierror.KindOf(err)), content.read
	}
	return w.Code, content.read
}

// No body is read before the token is verified, nor one that is too large according to its length. Of one without a
// length, a byte more than the limit is read.
func TestBodies(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.compile()
	h := f.process()
	backend, browser := f.token(clienttokentable.Backend), f.token(clienttokentable.Frontend)
	for _, test := range []struct {
		path, token string
		size        int
		declared    bool
		want        int
		read        int
	}{
		{"/api/client/metrics", "", 500, true, 401, 0},
		{"/api/client/metrics", backend + "x", 500, true, 401, 0},
		{"/api/client/metrics", browser, 500, true, 403, 0},
		{"/api/client/metrics", "user:v2_a_b", 500, true, 403, 0},
		{"/api/client/unknown", backend, 500, true, 404, 0},
		{"/api/client/metrics", backend, 1_000_001, true, 413, 0},
		{"/api/client/metrics", backend, 2_000_000, false, 413, 1_000_001},
		{"/api/frontend/client/metrics", browser, 1_000_001, true, 413, 0},
		{"/api/frontend", browser, 100_001, true, 413, 0},
		{"/api/frontend", browser, 200_000, false, 413, 100_001},
		{"/api/frontend", browser, 100_000, true, 200, 100_000},
		{"/ofrep/v1/evaluate/flags", browser, 100_001, true, 413, 0},
		{"/ofrep/v1/evaluate/flags/a", backend, 100_001, true, 413, 0},
	} {
		status, read := send(h, test.path, test.token, test.size, test.declared)
		if status != test.want || read != test.read {
			t.Errorf("%s, %d bytes: %d, %d read; want %d, %d", test.path, test.size, status, read, test.want, test.read)
		}
	}
}

// A credential that is no client token costs no call, and an unknown token costs one.
func TestCallsOfRejectedTokens(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.compile()
	valid := f.token(clienttokentable.Backend)
	through, calls := f.db.Through(t, nil)
	h := f.processThrough(through, 250*time.Millisecond)
	poll(h, valid, "") // the process has the environment
	replaced := "A"
	if valid[len(valid)-10] == 'A' {
		replaced = "B"
	}
	for credential, want := range map[string]string{
		"":                           "",
		"*:production":               "",
		"user:v2_a_b":                "",
		"eyJhbGciOiJub25lIn0.e30.x":  "",
		strings.Repeat("x", 100_000): "",
		f.deleted():                  "BatchGetItem",
		"*:nowhere" + strings.TrimPrefix(valid, "*:production"): "BatchGetItem",
		valid[:len(valid)-10] + replaced + valid[len(valid)-9:]: "BatchGetItem",
	} {
		for _, path := range []string{"/api/client/features", "/ofrep/v1/evaluate/flags", "/api/client/unknown"} {
			before := len(calls.Calls())
			if status := call(h, "POST", path, credential, "").status; status != 401 && status != 403 {
				t.Errorf("%s with %.20s: %d", path, credential, status)
			}
			if got := strings.TrimSpace(calls.Calls()[before:]); got != want {
				t.Errorf("%s with %.20s: calls %q, want %q", path, credential, got, want)
			}
		}
	}
}

// deleted returns the secret of a token that was deleted.
func (f *fixture) deleted() string {
	f.Helper()
	secret := f.token(clienttokentable.Backend)
	parsed, _ := clienttokentable.ParseSecret(secret)
	f.db.Delete(f, f.db.Tables[clienttokentable.Table], clienttokentable.Key(parsed.Selector))
	return secret
}

// publish stores a snapshot of toggles, as the compiler does.
func (f *fixture) publish(features []evaluation.Feature) {
	f.Helper()
	d := snapshot.NewDocument(features, nil)
	s, err := snapshot.New("production", "e", 1, snapshot.Versions{}.Next(snapshot.Document{}, d, 1), d)
	assert.OK(f, err)
	parts, _, err := snapshottable.MarshalParts(s, "x", f.now)
	assert.OK(f, err)
	for _, part := range parts {
		f.db.Put(f, f.db.Tables[snapshottable.Table], part)
	}
	f.db.Put(f, f.db.Tables[snapshottable.Table], snapshottable.MarshalPointer(snapshottable.Pointer{
		Environment: "production", Epoch: "e", Version: 1, Hash: d.Hash(), PartsID: "x", Parts: len(parts), CompiledAt: f.now,
	}))
}

// typical returns toggles with one or two strategies and a constraint, of about 700 bytes each. Ten of these bytes are
// random, so that they compress like the toggles of an organization.
func typical(n int) []evaluation.Feature {
	random := rand.New(rand.NewPCG(1, 2))
	features := make([]evaluation.Feature, n)
	for i := range features {
		name := fmt.Sprintf("%s-%s-%05d", []string{"checkout", "search", "profile", "billing"}[random.IntN(4)],
			[]string{"new-flow", "redesign", "experiment", "fallback", "limit"}[random.IntN(5)], i)
		f := toggle.Feature{Name: name, Project: fmt.Sprint("project-", random.IntN(40)), Type: "release"}
		var strategies []toggle.Strategy
		for range 1 + i%2 {
			strategies = append(strategies, toggle.Strategy{
				Name: toggle.StrategyFlexibleRollout,
				Parameters: map[string]string{
					"rollout": fmt.Sprint(random.IntN(101)), "stickiness": "userId", "groupId": name,
				},
				Constraints: []toggle.Constraint{{
					ContextName: "accountId",
					Operator:    "IN",
					Values:      []string{fmt.Sprint(random.Uint32()), fmt.Sprint(random.Uint32()), fmt.Sprint(random.Uint32())},
				}},
			})
		}
		f.SetEnvironment("production", toggle.Environment{Enabled: random.IntN(5) > 0, Strategies: strategies})
		features[i] = snapshot.NewFeature(f.Normalized(), "production")
	}
	return features
}

// 60,000 toggles fit into a response for a client that accepts gzip. Another client gets a 400 that says so.
func TestSixtyThousandToggles(t *testing.T) {
	if testing.Short() {
		t.Skip("it composes 60,000 toggles")
	}
	t.Parallel()
	f := newFixture(t)
	f.publish(typical(60_000))
	h, token := f.process(), f.token(clienttokentable.Backend)
	r := httptest.NewRequest(http.MethodGet, "/api/client/features", http.NoBody)
	r.Header.Set("Authorization", token)
	r.Header.Set("Accept-Encoding", "gzip")
	r.Header.Set("Unleash-Client-Spec", "5.2.0")
	w := httptest.NewRecorder()
	assert.OK(t, h.Serve(w, r))
	assert.Equal(t, http.StatusOK, w.Code)
	content, err := snapshot.Decompress(w.Body.Bytes())
	assert.OK(t, err)
	assert.Equal(t, 60_000, bytes.Count(content, []byte(`"impressionData"`)))
	assert.Equal(t, http.StatusNotModified, poll(h, token, w.Header().Get("ETag")).status)

	got := poll(h, token, "")
	if got.status != http.StatusBadRequest || !strings.Contains(got.body, "Send the header `Accept-Encoding: gzip`.") {
		t.Errorf("without gzip: %d %.300s", got.status, got.body)
	}
}

// A few strategies multiply the segments that they share, for SDKs that do not know segments. These get a 400 before
// the response is composed.
func TestInlinedSegments(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	large := toggle.Constraint{ContextName: "userId", Operator: toggle.OperatorIn}
	for i := range 1000 {
		large.Values = append(large.Values, fmt.Sprintf("%0100d", i))
	}
	many := toggle.Feature{Name: "many", Project: "shop", Type: "release"}
	strategies := make([]toggle.Strategy, 20)
	for i := range strategies {
		strategies[i] = toggle.Strategy{ID: fmt.Sprint(i), Name: toggle.StrategyDefault, Segments: []int64{1, 2, 3, 4, 5}}
	}
	many.SetEnvironment("production", toggle.Environment{Enabled: true, Strategies: strategies})
	for id := range int64(5) {
		f.putSegment(id+1, fmt.Sprint("segment ", id+1), large)
	}
	f.db.Put(t, f.db.Tables[featuretable.Table], featuretable.Marshal(many.Normalized()))
	f.put("blog", "one", toggle.Strategy{Segments: []int64{1}})
	f.compile()
	h, token := f.process(), f.token(clienttokentable.Backend)
	for _, path := range []string{"/api/client/features", "/api/client/features?project=shop", "/api/client/features/many"} {
		for _, encoding := range []string{"", "gzip"} {
			got := call(h, "GET", path, token, "", "Unleash-Client-Spec", "4.1.0", "Accept-Encoding", encoding)
			if got.status != http.StatusBadRequest || !strings.Contains(got.body, "`Unleash-Client-Spec` with 4.2.0 or later") {
				t.Errorf("%s %s: %d %.300s", path, encoding, got.status, got.body)
			}
			got = call(h, "GET", path, token, "", "Unleash-Client-Spec", "4.2.0", "Accept-Encoding", encoding)
			assert.Equal(t, http.StatusOK, got.status)
		}
	}
	got := call(h, "GET", "/api/client/features?project=blog", token, "", "Unleash-Client-Spec", "4.1.0")
	assert.Equal(t, http.StatusOK, got.status)
}

// A response that Lambda would reject is an error of the service: SDKs keep their last state.
func TestLargeEvaluation(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	payload := &toggle.Payload{Type: "string", Value: strings.Repeat("x", toggle.MaxPayload)}
	variant := toggle.Variant{Name: "v", Weight: toggle.TotalWeight, WeightType: "variable", Payload: payload}
	features := make([]evaluation.Feature, 630)
	for i := range features {
		one := toggle.Feature{Name: fmt.Sprintf("t%03d", i), Project: "shop", Type: "release"}
		one.SetEnvironment("production", toggle.Environment{Enabled: true, Strategies: []toggle.Strategy{{
			Name: toggle.StrategyFlexibleRollout, Variants: []toggle.Variant{variant},
			Parameters: map[string]string{"rollout": "100", "stickiness": "default", "groupId": "g"},
		}}})
		features[i] = snapshot.NewFeature(one, "production")
	}
	f.publish(features)
	h, browser := f.process(), f.token(clienttokentable.Frontend)
	assert.Equal(t, http.StatusInternalServerError, call(h, "GET", "/api/frontend", browser, "").status)
	assert.Equal(t, http.StatusInternalServerError, call(h, "POST", "/ofrep/v1/evaluate/flags", browser, "").status)
}
