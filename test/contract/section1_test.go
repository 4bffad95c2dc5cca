package contract_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/local"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/test/enginetest"
	"toggleadmin/test/localtest"
)

// fill creates the tokens that an account may have.
func (s *service) fill(t *testing.T, account int64) {
	t.Helper()
	for range 10 {
		s.pat(t, account, user.ServiceAccount, time.Hour)
	}
}

func TestSection1ErrorObject(t *testing.T) {
	t.Parallel()
	s := shared
	admin := s.admin(t)
	full, taken := s.account(t, user.ServiceAccount, access.RoleViewer),
		s.account(t, user.ServiceAccount, access.RoleViewer)
	s.fill(t, full)
	s.send(t, postToken(text(taken), newToken(`"d"`)).as(admin)).want(t, 201)
	for want, c := range map[string]call{
		"400 ValidationError":        putFeedback("x", `{"given":1}`).as(admin),
		"401 AuthenticationRequired": putFeedback("x", `{}`).as(s.APIToken),
		"403 NoAccessError":          postToken(text(full), anyToken()).as(admin),
		"404 NotFoundError":          putLifetime("none", "1").as(admin),
		"409 NameExistsError":        postToken(text(taken), newToken(`"d"`)).as(admin),
		"413 ContentTooLarge":        putFeedback("x", strings.Repeat(" ", 102_401)).as(admin),
		"415 ContentTypeerror":       putFeedback("x", `{}`).as(admin).typed("text/plain"),
	} {
		r := s.send(t, c) // compares the error with the document
		if got := fmt.Sprint(r.status, " ", r.error(t, r.status).Name); got != want {
			t.Errorf("%s: %s, want %s", r, got, want)
		}
	}
}

func TestSection1IDs(t *testing.T) {
	t.Parallel()
	s := shared
	seen := map[string]bool{}
	calls := []call{get(typesPath), get(typesPath).as("malformed"), get("/nowhere"), get("/nowhere"),
		deleteToken("x").as(s.viewer(t))}
	for _, c := range calls {
		r := s.send(t, c)
		id, request := r.error(t, r.status).ID, r.header.Get("X-Request-Id")
		if seen[id] || seen[request] {
			t.Errorf("%s: error %s or request %s has the ID of another", r, id, request)
		}
		seen[id], seen[request] = true, true
		if r.status == http.StatusUnauthorized { // an error of API Gateway
			if id != request {
				t.Errorf("%s: error %s, request %s", r, id, request)
			}
		} else if line := s.log.ofError(t, id); line.APIRequestID != request {
			t.Errorf("%s: request %s, log line %s", r, request, line.raw)
		}
	}
}

// send searches each error for credentials.
func TestSection1NoCredentialInErrors(t *testing.T) {
	t.Parallel()
	s := shared
	admin, secret := s.admin(t), s.viewer(t)
	encoded := strings.ReplaceAll(secret, "v2_", "%76%32%5F")
	for _, c := range []call{
		putLifetime("release", `{"a":["`+secret+`"]}`), putFeedback("x", `{"`+secret+`":1,"`+secret+`":2}`),
		putLifetime("release", "").with(secret), get("/api/admin/" + secret), get(trafficPath + encoded),
		putLifetime(encoded, "1"), postToken(encoded, anyToken()), putFeedback(encoded+"%ff", `{}`),
	} {
		r := s.send(t, c.as(admin))
		if r.status < 400 || strings.Contains(r.body, secret[40:50]) {
			t.Errorf("%s: %d %s", r, r.status, r.body)
		}
	}
}

func TestSection1UnknownPath(t *testing.T) {
	t.Parallel()
	s := shared
	admin := s.admin(t)
	calls := []call{get("/api"), get("/api/admin"), get("/api/admin/feedback"), get(typesPath + "/release")}
	calls = append(calls, get("/API/admin/context"), get(contextPath+"/x/y"))
	for _, op := range operations(t) {
		for _, method := range []string{http.MethodPatch, http.MethodOptions} {
			calls = append(calls, call{method: method, target: op.call.target})
		}
	}
	for _, c := range calls {
		for _, token := range []string{"", "malformed", admin} {
			r := s.send(t, c.as(token))
			if r.message(t, 404, textNoPath); r.header.Get("Allow") != "" {
				t.Errorf("%s has an Allow header", r)
			}
		}
	}
}

// refusing returns the endpoint of an engine that fails the calls that refuse selects.
func refusing(t *testing.T, refuse func(operation, body string) bool) string {
	t.Helper()
	engine, err := url.Parse(enginetest.Endpoint(t))
	must(t, err)
	proxy := httputil.NewSingleHostReverseProxy(engine)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if _, operation, _ := strings.Cut(r.Header.Get("X-Amz-Target"), "."); err != nil || refuse(operation, string(body)) {
			w.WriteHeader(http.StatusInternalServerError)
			_, _ = fmt.Fprint(w,
				`{"__type":"com.amazonaws.dynamodb.v20120810#InternalServerError","message":"arn:aws:dynamodb"}`)
			return
		}
		r.Body = io.NopCloser(strings.NewReader(string(body)))
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// shortTimeouts returns a template whose functions have 4 seconds.
func shortTimeouts(t *testing.T) string {
	t.Helper()
	template, err := os.ReadFile(localtest.Template(t))
	must(t, err)
	file := filepath.Join(t.TempDir(), "template.yaml")
	must(t, os.WriteFile(file, regexp.MustCompile(`(?m)^( +Timeout: )\d+$`).ReplaceAll(template, []byte("${1}4")), 0o600))
	return file
}

func TestSection1DependencyFailure(t *testing.T) {
	t.Parallel()
	var failing atomic.Bool
	var attempts atomic.Int64
	unreadable := "none"
	endpoint := refusing(t, func(operation, body string) bool {
		lookup := operation == "BatchGetItem" || operation == "GetItem" && strings.Contains(body, "ApiTokens")
		refused := failing.Load() && (!lookup || strings.Contains(body, unreadable))
		if refused {
			attempts.Add(1)
		}
		return refused
	})
	s := start(t, local.Config{Template: shortTimeouts(t), RequestsOnly: true, DynamoDBEndpoint: endpoint})
	caller, token := s.person(t, access.RoleAdmin)
	s.send(t, get(typesPath).as(token)).want(t, 200) // sets seenAt
	account := s.account(t, user.ServiceAccount, access.RoleViewer)
	own, _ := s.pat(t, caller, user.Person, time.Hour)
	selector, apiToken := s.newAPIToken(t, time.Hour)
	unreadable = selector.String()
	calls := []call{
		postToken(text(account), newToken(`"d"`)), deleteToken(text(own)), putFeedback("x", `{}`),
		putLifetime("release", "1"),
		get(typesPath), get(contextPath), get(trafficPath + "2026-01"),
	}
	failing.Store(true)
	var requests sync.WaitGroup
	for _, c := range calls {
		requests.Go(func() {
			r := s.send(t, c.as(token))
			if r.status != 503 || !strings.Contains(r.body, `"name":"ServiceUnavailable"`) || r.header.Get("Retry-After") == "" {
				t.Errorf("%s: %d %s", r, r.status, r.body)
			}
		})
	}
	requests.Go(func() {
		r := s.send(t, get(typesPath).as(apiToken))
		if r.status != 500 || !strings.Contains(r.body, `"name":"InternalError"`) || r.header.Get("WWW-Authenticate") != "" {
			t.Errorf("authorizer: %d %s", r.status, r.body)
		}
	})
	requests.Wait()
	if n := int(attempts.Load()); n < 3*(len(calls)+1) {
		t.Errorf("%d attempts for %d requests", n, len(calls)+1)
	}
	failing.Store(false)
	for _, c := range calls { // 404 or 409 if a write had happened
		if r := s.send(t, c.as(token)); r.status >= 300 {
			t.Errorf("%s afterwards: %d %s", r, r.status, r.body)
		}
	}
}
