package client_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"toggleadmin/pkg/delivery/clienttokentable"
	"toggleadmin/pkg/delivery/snapshot"
	"toggleadmin/pkg/delivery/snapshottable"
	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/pkg/platform/lambdahttp"
	"toggleadmin/pkg/toggle"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/database"
)

// names returns the names of the toggles in a response.
func (r response) names(t *testing.T) string {
	t.Helper()
	if r.status != http.StatusOK {
		return fmt.Sprint(r.status)
	}
	var got snapshot.Response
	assert.OK(t, json.Unmarshal([]byte(r.body), &got))
	var names []string
	for _, f := range got.Features {
		names = append(names, f.Name)
	}
	return strings.Join(names, " ")
}

func TestCredentials(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.compile()
	h := f.process()
	backend, browser := f.token(clienttokentable.Backend), f.token(clienttokentable.Frontend)
	expired := f.expiring(new(f.now), clienttokentable.Backend)
	random := backend[len(backend)-43:]
	for _, test := range []struct {
		target, credential string
		want               int
	}{
		{"/api/client/features", backend, 200},
		{"/api/client/features/", backend, 200},
		{"//api//client/features", backend, 200},
		{"/api/client/features", "Bearer " + backend, 200},
		{"/api/client/features", "bearer   " + backend, 200},
		{"/api/client/features", "", 401},
		{"/api/client/features", "Bearer", 401},
		{"/api/client/features", expired, 401},
		{"/api/client/features", backend[:len(backend)-1] + "x", 401},
		{"/api/client/features", "shop" + backend[1:], 401},                                     // another scope
		{"/api/client/features", strings.Replace(backend, "production", "development", 1), 401}, // another environment
		{"/api/client/features", "*:production." + random, 401},
		{"/api/client/features", browser, 403},
		{"/api/client/features", "user:v2_x", 403},
		{"/api/client/features", "*:*.v2_x", 403},
		{"/api/client/features", "eyJhbGciOiJub25lIn0.e30.x", 403},
		{"/api/frontend", browser, 200},
		{"/api/frontend", backend, 403},
		{"/api/frontend", "", 401},
		{"/api/client/delta", "", 401},
		{"/api/client/delta", backend, 404},
		{"/api/client/streaming", backend, 404},
		{"/api/admin/features", "", 404},
		{"/", "", 404},
		{"/ofrep/v1/configuration", "", 401},
		{"/ofrep/v1/configuration", browser, 404},
	} {
		if got := call(h, "GET", test.target, test.credential, ""); got.status != test.want {
			t.Errorf("%s with %.20q: %d %s, want %d", test.target, test.credential, got.status, got.body, test.want)
		}
	}
}

// A response has a strong tag and can be compressed. A 304 has the same headers and no body, and is only sent to a
// request with a tag.
func TestFeatures(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.put("shop", "a", toggle.Strategy{})
	f.compile()
	h, token := f.process(), f.token(clienttokentable.Backend)
	plain := poll(h, token, "")
	assert.Equal(t, "a", plain.names(t))
	assert.Equal(t, "application/json; charset=utf-8", plain.header.Get("Content-Type"))
	compressed := poll(h, token, "", "Accept-Encoding", "br, gzip;q=0.5")
	assert.Equal(t, "gzip", compressed.header.Get("Content-Encoding"))
	assert.Equal(t, plain.body, compressed.body)
	for accepted, want := range map[string]string{
		"gzip;q=0, br": "", "gzip;q=0, *": "", "*, gzip;q=0": "", "br, *;q=0.1": "gzip", "*;q=0, gzip": "gzip", "br, *;q=0": "",
	} {
		assert.Equal(t, want, poll(h, token, "", "Accept-Encoding", accepted).header.Get("Content-Encoding"))
	}
	tag, other := plain.header.Get("ETag"), compressed.header.Get("ETag")
	if tag == other || !strings.HasPrefix(tag, `"`) {
		t.Errorf("tags %s and %s", tag, other)
	}
	nine := strings.Repeat(`"x",`, 9)
	for _, sent := range []string{tag, other, "W/" + tag, `"x", ` + tag, " * ", nine + tag} {
		got := poll(h, token, sent)
		assert.Equal(t, "304", got.names(t))
		assert.Equal(t, "", got.body)
		assert.Equal(t, http.Header{
			"Cache-Control":          {"private, no-cache"},
			"Etag":                   {tag},
			"Vary":                   {"Authorization, Unleash-Client-Spec, Accept-Encoding"},
			"X-Content-Type-Options": {"nosniff"},
		}, got.header)
	}
	for _, sent := range []string{
		`"x"`, `""`, `"537b2ba0:43:v1"`, `"*"`, `W/"*"`, `"x", *`, strings.Trim(tag, `"`), nine + `"x",` + tag,
	} {
		assert.Equal(t, http.StatusOK, poll(h, token, sent).status)
	}
}

// Tags have a short hash of the query. Two queries with the same hash have different responses nevertheless, so that a
// token of a project cannot search a query whose hash is that of another token's.
func TestQueriesWithTheSameHash(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.put("web", "n51049", toggle.Strategy{})
	f.put("app", "checkout", toggle.Strategy{})
	f.compile()
	all := snapshot.Query{Projects: []string{"app", "p104110"}, Environment: "production"}
	web := snapshot.Query{Projects: []string{"web"}, NamePrefix: "n51049", Environment: "production"}
	short := func(q snapshot.Query) string { return snapshot.NewSelection(q).Tag("", nil).Query }
	assert.Equal(t, short(all), short(web))
	h := f.process()
	got := call(h, "GET", "/api/client/features?project=app&project=p104110", f.token(clienttokentable.Backend), "")
	assert.Equal(t, "checkout", got.names(t))
	got = call(h, "GET", "/api/client/features?namePrefix=n51049", f.token(clienttokentable.Backend, "web"), "")
	assert.Equal(t, "n51049", got.names(t))
}

func TestSelection(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for _, name := range []string{"shop.a", "shop.b", "shop_c", "billing.d"} {
		project, _, _ := strings.Cut(strings.ReplaceAll(name, "_", "."), ".")
		f.put(project, name, toggle.Strategy{})
	}
	web, team := toggle.Tag{Type: "simple", Value: "web"}, toggle.Tag{Type: "team", Value: "a:b"}
	f.tag("shop.a", web)
	f.tag("shop.b", web)
	f.tag("billing.d", team)
	f.compile()
	h := f.process()
	all, shop := f.token(clienttokentable.Backend), f.token(clienttokentable.Backend, "shop")
	several := f.token(clienttokentable.Backend, "shop", "billing", "other")
	for _, test := range []struct{ token, query, want string }{
		{all, "", "billing.d shop.a shop.b shop_c"},
		{all, "?project=billing", "billing.d"},
		{all, "?project[]=billing&project=shop", "billing.d shop.a shop.b shop_c"},
		{all, "?project=", "400"},
		{all, "?project=other", ""},
		{all, "?namePrefix=shop_", "shop_c"},
		{all, "?namePrefix=a&namePrefix=b", "400"},
		{all, "?tag=simple:web", "shop.a shop.b"},
		{all, "?tag[]=team:a:b&tag=simple:web", "billing.d shop.a shop.b"}, // one of them
		{all, "?tag=simple:web&project=billing", ""},
		{all, "?tag=simple:web&namePrefix=shop.b", "shop.b"},
		{all, "?tag=simple", "400"},
		{shop, "?tag=team:a:b", ""},
		{all, "?environment=development&x=%C3&y=a;b&z=100%", "billing.d shop.a shop.b shop_c"},
		{shop, "", "shop.a shop.b shop_c"},
		{shop, "?project=billing&namePrefix=shop.", "shop.a shop.b"},
		{several, "", "billing.d shop.a shop.b shop_c"},
	} {
		got := call(h, "GET", "/api/client/features"+test.query, test.token, "")
		assert.Equal(t, test.want, got.names(t))
	}
	one := call(h, "GET", "/api/client/features/shop.a", shop, "")
	assert.Equal(t, http.StatusOK, one.status)
	assert.Equal(t, http.StatusNotModified,
		call(h, "GET", "/api/client/features/shop.a", shop, "", "If-None-Match", one.header.Get("ETag")).status)
	assert.Equal(t, http.StatusNotFound, call(h, "GET", "/api/client/features/billing.d", shop, "").status)
}

// An SDK that does not know segments gets their constraints in the strategies.
func TestSegments(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.putSegment(7, "Norway", inNorway()...)
	f.put("shop", "a", toggle.Strategy{Segments: []int64{7}})
	f.compile()
	h, token := f.process(), f.token(clienttokentable.Backend)
	const inlined = `"strategies":[{"name":"flexibleRollout","constraints":[{"contextName":"country",`
	for specification, apart := range map[string]bool{
		"": false, "4.1.9": false, "4.2.0": true, "5.0.0": true, "10.0.0": true, "v5.0.0": false, "5.1": false,
		"4.02.0": false,
	} {
		got := poll(h, token, "", "Unleash-Client-Spec", specification)
		assert.Equal(t, apart, strings.Contains(got.body, `"segments":[7]`))
		assert.Equal(t, apart, strings.Contains(got.body, `"segments":[{"id":7`))
		assert.Equal(t, !apart, strings.Contains(got.body, inlined))
		assert.Equal(t, http.StatusNotModified,
			poll(h, token, got.header.Get("ETag"), "Unleash-Client-Spec", specification).status)
	}
}

// A download by tags of toggles has another entity tag after their change, and the others have not. A snapshot of an
// earlier version of the service has no tags.
func TestTags(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.put("shop", "a", toggle.Strategy{})
	f.compile()
	h, token := f.process(), f.token(clienttokentable.Backend)
	const path = "/api/client/features?tag=simple:web"
	whole, none := poll(h, token, ""), call(h, "GET", path, token, "")
	assert.Equal(t, "", none.names(t))
	f.tag("a", toggle.Tag{Type: "simple", Value: "web"})
	f.compile()
	assert.Equal(t, http.StatusNotModified, poll(h, token, whole.header.Get("ETag")).status)
	one := call(h, "GET", path, token, "", "If-None-Match", none.header.Get("ETag"))
	assert.Equal(t, "a", one.names(t))
	if !strings.Contains(one.body, `"query":{"tag":[["simple","web"]],"environment":"production"`) {
		t.Error(one.body)
	}
	f.changePointer(func(item dynamo.Item) { delete(item, "tagParts") })
	old := f.process()
	assert.Equal(t, http.StatusServiceUnavailable, call(old, "GET", path, token, "").status)
	assert.Equal(t, http.StatusOK, poll(old, token, "").status)
}

// A token's tag changes only if what the token sees changes.
func TestNothingChangedForTheToken(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.putSegment(7, "Norway")
	f.put("shop", "a", toggle.Strategy{Segments: []int64{7}})
	f.put("billing", "b", toggle.Strategy{})
	f.compile()
	h := f.process()
	shop, billing := f.token(clienttokentable.Backend, "shop"), f.token(clienttokentable.Backend, "billing")
	tags := func(token, specification string) string {
		return poll(h, token, "", "Unleash-Client-Spec", specification).header.Get("ETag")
	}
	shopTag, inlinedTag, billingTag := tags(shop, "5.0.0"), tags(shop, ""), tags(billing, "5.0.0")
	f.put("billing", "b", toggle.Strategy{Constraints: inNorway()})
	f.compile()
	assert.Equal(t, shopTag, tags(shop, "5.0.0"))
	if tags(billing, "5.0.0") == billingTag {
		t.Error("the tag of the changed project did not change")
	}
	f.putSegment(7, "renamed")
	f.compile()
	assert.Equal(t, inlinedTag, tags(shop, ""))
	if tags(shop, "5.0.0") == shopTag {
		t.Error("the tag did not change with the name of a segment")
	}
}

// An SDK that alternates between processes never goes back, whatever the processes have read.
func TestNoSDKGoesBack(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.put("shop", "a", toggle.Strategy{})
	f.compile()
	token := f.token(clienttokentable.Backend)
	down := false
	through, _ := f.unreachable(&down)
	behind := f.processThrough(through, time.Hour)
	first := poll(behind, token, "")
	f.put("shop", "b", toggle.Strategy{})
	f.compile()
	second := poll(f.process(), token, first.header.Get("ETag"))
	assert.Equal(t, "a b", second.names(t))
	assert.Equal(t, "304", poll(behind, token, first.header.Get("ETag")).names(t)) // behind, but not behind the client
	down = true
	assert.Equal(t, "304", poll(behind, token, second.header.Get("ETag")).names(t))
	down = false
	f.now = f.now.Add(2 * time.Second) // a process does not read at once after a failure
	assert.Equal(t, "304", poll(behind, token, second.header.Get("ETag")).names(t))
	assert.Equal(t, "a b", poll(behind, token, first.header.Get("ETag")).names(t)) // it has read the pointer again
}

// After a restore, versions begin again. No SDK waits for a version that does not come.
func TestRestore(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	token := f.token(clienttokentable.Backend)
	for _, name := range []string{"a", "b"} {
		f.put("shop", name, toggle.Strategy{})
		f.compile()
	}
	down := false
	through, _ := f.unreachable(&down)
	h := f.processThrough(through, time.Hour)
	before := poll(h, token, "").header.Get("ETag")
	f.restore()
	f.put("shop", "c", toggle.Strategy{})
	f.compile()
	after := poll(f.process(), token, before)
	assert.Equal(t, "a b c", after.names(t))
	down = true
	assert.Equal(t, "304", poll(h, token, after.header.Get("ETag")).names(t)) // it does not know the epoch
	down = false
	f.now = f.now.Add(2 * time.Second)
	assert.Equal(t, "304", poll(h, token, after.header.Get("ETag")).names(t))
	assert.Equal(t, "a b c", poll(h, token, before).names(t))
}

// Between a restore and the first compilation after it, there is no pointer. A process that is behind does not know
// whether what it has is older than what the client has.
func TestNoPointer(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.put("shop", "a", toggle.Strategy{})
	f.compile()
	token := f.token(clienttokentable.Backend)
	behind := f.processThrough(f.db.Client, time.Hour)
	poll(behind, token, "")
	f.put("shop", "b", toggle.Strategy{})
	f.restore()
	newer := poll(f.process(), token, "") // of another epoch
	f.deletePointer()
	assert.Equal(t, "304", poll(behind, token, newer.header.Get("ETag")).names(t))
	assert.Equal(t, "a", poll(behind, token, "").names(t))
}

// DynamoDB can return the token, or that it does not exist, without the pointer. The pointer is then read again, and not
// taken for one that does not exist.
func TestUnprocessedKeys(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.put("shop", "a", toggle.Strategy{})
	f.compile()
	for secret, want := range map[string]struct {
		names string
		calls int
	}{
		f.token(clienttokentable.Backend): {"a", 3}, // the token, the pointer, the parts
		f.deleted():                       {"401", 2},
	} {
		through, calls := f.db.Through(t, func(c *database.Call) (*http.Response, error) {
			if c.N > 1 {
				return c.Pass()
			}
			return throttle(t, c, f.db.Tables[snapshottable.Table])
		})
		assert.Equal(t, want.names, poll(f.processThrough(through, 0), secret, "").names(t))
		assert.Equal(t, want.calls, strings.Count(calls.Calls(), "BatchGetItem"))
	}
}

// throttle lets the engine carry out a BatchGetItem without the keys of a table.
func throttle(tb testing.TB, c *database.Call, table string) (*http.Response, error) {
	tb.Helper()
	var request struct{ RequestItems map[string]any }
	assert.OK(tb, json.Unmarshal([]byte(c.Body), &request))
	unprocessed := map[string]any{table: request.RequestItems[table]}
	delete(request.RequestItems, table)
	content := map[string]any{"Responses": map[string]any{}}
	if len(request.RequestItems) > 0 {
		text, err := json.Marshal(request)
		assert.OK(tb, err)
		c.Body = string(text)
		response, err := c.Pass()
		if err != nil {
			return nil, err
		}
		defer response.Body.Close()
		assert.OK(tb, json.NewDecoder(response.Body).Decode(&content))
	}
	content["UnprocessedKeys"] = unprocessed
	text, err := json.Marshal(content)
	assert.OK(tb, err)
	return c.Reply(http.StatusOK, string(text))
}

// While DynamoDB cannot be reached, a process answers with what it has read. One that has read nothing answers 503.
func TestLastGoodCopy(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.put("shop", "a", toggle.Strategy{})
	f.compile()
	token, other := f.token(clienttokentable.Backend), f.token(clienttokentable.Backend)
	down := false
	through, _ := f.unreachable(&down)
	warm, cold := f.processThrough(through, 0), f.processThrough(through, 0)
	poll(warm, token, "")
	down = true
	assert.Equal(t, "a", poll(warm, token, "").names(t))
	for _, got := range []response{
		poll(cold, token, ""), poll(warm, other, ""), poll(warm, token[:len(token)-43]+other[len(other)-43:], ""),
	} {
		assert.Equal(t, http.StatusServiceUnavailable, got.status)
		assert.Equal(t, "1", got.header.Get("Retry-After"))
	}
}

// An environment without a snapshot is a passing fault.
func TestNoSnapshot(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	assert.Equal(t, http.StatusServiceUnavailable, poll(f.process(), f.token(clienttokentable.Backend), "").status)
}

// A poll is one call, and reads the pointer only if it was not read recently. It writes when the token was last used
// once an hour, and the number of requests once a minute. A revoked token is rejected at once.
func TestCallsOfAPoll(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.compile()
	token := f.token(clienttokentable.Backend)
	through, calls := f.db.Through(t, nil)
	h := f.processThrough(through, 250*time.Millisecond)
	tag := poll(h, token, "").header.Get("ETag")
	seen := 0
	made := func() string {
		names := strings.Fields(calls.Calls())[seen:]
		seen += len(names)
		slices.Sort(names)
		return strings.Join(names, " ")
	}
	assert.Equal(t, strings.Repeat("BatchGetItem ", 2)+"UpdateItem", made()) // the second one reads the parts
	for _, test := range []struct {
		after time.Duration
		want  string
	}{
		{0, "BatchGetItem"},
		{time.Second, "BatchGetItem"},
		{58 * time.Second, "BatchGetItem"},
		{time.Second, "BatchGetItem PutItem"},
		{59 * time.Second, "BatchGetItem"},
		{time.Hour, "BatchGetItem PutItem UpdateItem"},
		{time.Second, "BatchGetItem"},
	} {
		f.now = f.now.Add(test.after)
		assert.Equal(t, http.StatusNotModified, poll(h, token, tag).status)
		assert.Equal(t, test.want, made())
	}
	for _, item := range f.db.Scan(t, f.db.Tables[clienttokentable.Table]) {
		stored, err := clienttokentable.Unmarshal(item)
		assert.OK(t, err)
		f.db.Delete(t, f.db.Tables[clienttokentable.Table], clienttokentable.Key(stored.Selector))
	}
	assert.Equal(t, http.StatusUnauthorized, poll(h, token, tag).status)
}

// A request reads the pointer once more at most, however many tags of other epochs it has.
func TestCallsForManyTags(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.compile()
	token := f.token(clienttokentable.Backend)
	through, calls := f.db.Through(t, nil)
	h := f.processThrough(through, time.Hour)
	tag := poll(h, token, "").header.Get("ETag")
	before := len(strings.Fields(calls.Calls()))
	hash, _, _ := strings.Cut(strings.Trim(tag, `"`), ":")
	var tags []string
	for i := range 9 {
		tags = append(tags, fmt.Sprintf(`"%s:e%d.1:v1"`, hash, i))
	}
	assert.Equal(t, http.StatusOK, poll(h, token, strings.Join(tags, ", ")).status)
	assert.Equal(t, http.StatusNotModified, poll(h, token, strings.Join(append(tags, tag), ", ")).status)
	assert.Equal(t, []string{"BatchGetItem", "GetItem", "BatchGetItem", "GetItem"}, strings.Fields(calls.Calls())[before:])
}

// A compressed report counts unpacked.
func TestCompressedReport(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.compile()
	h, token := f.process(), f.token(clienttokentable.Backend)
	for content, want := range map[string]int{
		`{"appName":"a"}`: 202,
		`{"appName":"a","x":"` + strings.Repeat("x", 1_000_000) + `"}`: 413,
	} {
		compressed, err := snapshot.Compress([]byte(content))
		assert.OK(t, err)
		got := call(h, "POST", "/api/client/metrics", token, string(compressed), "Content-Encoding", "GZip") // in any case
		assert.Equal(t, want, got.status)
	}
	assert.Equal(t, 400, call(h, "POST", "/api/client/metrics", token, "{}", "Content-Encoding", "gzip").status)
	assert.Equal(t, 400, call(h, "POST", "/api/client/metrics", token, "{}", "Content-Encoding", "br").status)
}

// Reports are accepted in all forms that SDKs send, with the statuses that they expect.
func TestReports(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.compile()
	h := f.process()
	backend, browser := f.token(clienttokentable.Backend), f.token(clienttokentable.Frontend)
	large := `{"appName":"a","x":"` + strings.Repeat("x", 999_970) + `"}`
	const registration = `{"appName":"a","yggdrasilVersion":null,"interval":15,"strategies":[]}` + "\n"
	for _, test := range []struct {
		path, token, body string
		want              int
	}{
		{"/api/client/register", backend, registration, 202},
		{"/api/client/metrics", backend, `{"appName":"a","bucket":null}`, 202},
		{"/api/client/metrics", backend, `{"appName":"a","bucket":{"start":"1970-01-01T00:00:00Z","toggles":{}}}`, 202},
		{"/api/client/metrics", backend, large, 202},
		{"/api/client/metrics", backend, large + strings.Repeat(" ", 100), 413},
		{"/api/client/metrics", browser, `{"appName":"a"}`, 403},
		{"/api/client/metrics/bulk", backend, `{"applications":[],"metrics":[]}`, 202},
		{"/api/frontend/client/metrics", browser, `{"appName":"a","bucket":{}}`, 200},
		{"/api/frontend/client/register", browser, `{"appName":"a"}`, 200},
	} {
		if got := call(h, "POST", test.path, test.token, test.body); got.status != test.want {
			t.Errorf("%s %.60s: %d %s, want %d", test.path, test.body, got.status, got.body, test.want)
		}
	}
}

// The error of a body names the place that is wrong.
func TestInvalidBodies(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.compile()
	h, backend := f.process(), f.token(clienttokentable.Backend)
	const metrics, bulk, validate = "/api/client/metrics", "/api/client/metrics/bulk", "/edge/validate"
	for _, test := range []struct {
		path, body string
		places     []string
	}{
		{metrics, ``, []string{"/body"}},
		{metrics, `[]`, []string{"/body"}},
		{metrics, `{}`, []string{"/body/appName"}},
		{metrics, `{"appName":7}`, []string{"/body/appName"}},
		{"/api/client/register", `{"appName":""}`, []string{"/body/appName"}},
		{bulk, `{}`, []string{"/body/applications", "/body/metrics"}},
		{bulk, `{"applications":[]}`, []string{"/body/metrics"}},
		{bulk, `{"applications":{},"metrics":[]}`, []string{"/body/applications"}},
		{validate, `{`, []string{"/body"}},
		{validate, `{}`, []string{"/body/tokens"}},
		{validate, `{"tokens":"x"}`, []string{"/body/tokens"}},
		{validate, `{"tokens":["x",7]}`, []string{"/body/tokens/1"}},
	} {
		got := call(h, "POST", test.path, backend, test.body, "Prefer", lambdahttp.PreferDetails)
		assert.Equal(t, http.StatusBadRequest, got.status)
		var failure struct{ Details []struct{ Path string } }
		assert.OK(t, json.Unmarshal([]byte(got.body), &failure))
		var places []string
		for _, d := range failure.Details {
			places = append(places, d.Path)
		}
		assert.Equal(t, test.places, places)
	}
}
