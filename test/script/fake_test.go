package script_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"toggleadmin/test/script"
)

// fake answers like the service as far as the vocabulary's tests need it: one feature type, tokens of one service account.
type fake struct {
	mu       sync.Mutex
	lifetime any
	lastID   int
	tokens   map[string]string // id → secret
}

const (
	fakeAPIToken = "*:*.v2_AAAAAAAAAAAAAAAAAAAAAQ_ApiTokenApiTokenApiTokenApiTokenApiTokenApi"
	fakePAT      = "user:v2_AAAAAAAAAAEAAAAAAAAAAQ_AdminAdminAdminAdminAdminAdminAdminAdminAdm"
	fakeLimit    = 3
)

// startFake starts a fake and gives a ground named name with it.
func startFake(t *testing.T, name string) (script.Ground, *fake) {
	t.Helper()
	f := &fake{lifetime: 40, tokens: map[string]string{}}
	server := httptest.NewServer(f)
	t.Cleanup(server.Close)
	credentials := script.Credentials{
		APIToken: fakeAPIToken,
		Users: []script.User{
			{ID: 1, Name: "admin", Role: "Admin", PAT: fakePAT}, {ID: 2, Name: "editor", Role: "Editor", PAT: fakePAT}, {ID: 3, Name: "viewer", Role: "Viewer", PAT: fakePAT},
		},
		ServiceAccounts: []script.ServiceAccount{{ID: 4, Name: "ci", Role: "Editor"}},
	}
	return script.Ground{Name: name, BaseURL: server.URL + "/stage", Credentials: credentials, Now: time.Now}, f
}

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for name, value := range map[string]string{"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff", "X-Request-Id": "r", "Content-Type": "application/json"} {
		w.Header().Set(name, value)
	}
	body, _ := io.ReadAll(r.Body)
	token := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	path := strings.TrimPrefix(r.URL.Path, "/stage")
	id, isToken := strings.CutPrefix(path, "/api/admin/user/tokens/")
	switch {
	case !f.known(token):
		w.Header().Set("WWW-Authenticate", "Bearer")
		answerError(w, http.StatusUnauthorized, "AuthenticationRequired", "You need a valid credential in the Authorization header.")
	case r.Method == http.MethodGet && path == "/api/admin/feature-types":
		_, _ = fmt.Fprintf(w, `{"version":1,"types":[%s]}`, f.featureType())
	case path == "/api/admin/feature-types/release/lifetime":
		f.putLifetime(w, body)
	case path == "/api/admin/service-account/4/token":
		f.postToken(w, r, body)
	case isToken && f.tokens[id] != "":
		delete(f.tokens, id)
	case path == "/api/admin/context": // what the API's document does not foresee
		_, _ = io.WriteString(w, `{"not":"a list"}`)
	default:
		answerError(w, http.StatusNotFound, "NotFoundError", "The path you were looking for is not available.")
	}
}

func (f *fake) known(token string) bool {
	for _, secret := range f.tokens {
		if token == secret {
			return true
		}
	}
	return token == fakePAT || token == fakeAPIToken
}

func (f *fake) featureType() string {
	days, _ := json.Marshal(f.lifetime)
	return fmt.Sprintf(`{"id":"release","name":"Release","description":"New.","lifetimeDays":%s}`, days)
}

func (f *fake) putLifetime(w http.ResponseWriter, body []byte) {
	var sent map[string]any
	if err := json.Unmarshal(body, &sent); err != nil {
		answerError(w, http.StatusBadRequest, "ValidationError", "The `/body` must be JSON.")
		return
	}
	if _, ok := sent["lifetimeDays"].(float64); !ok {
		answerError(w, http.StatusBadRequest, "ValidationError", "The `/body/lifetimeDays` property must be an integer or null.")
		return
	}
	f.lifetime = sent["lifetimeDays"]
	_, _ = io.WriteString(w, f.featureType())
}

func (f *fake) postToken(w http.ResponseWriter, r *http.Request, body []byte) {
	var sent struct{ Description, ExpiresAt string }
	_ = json.Unmarshal(body, &sent)
	if len(f.tokens) == fakeLimit {
		answerError(w, http.StatusForbidden, "NoAccessError", "No more.")
		return
	}
	f.lastID++
	secret := fmt.Sprintf("user:v2_AAAAAAAAAAQAAAAAAAAADA_%043d", f.lastID)
	f.tokens[fmt.Sprint(f.lastID)] = secret
	w.Header().Set("Location", fmt.Sprintf("http://%s/stage/api/admin/service-account/4/token/%d", r.Host, f.lastID))
	w.WriteHeader(http.StatusCreated)
	_ = json.NewEncoder(w).Encode(map[string]any{
		"id": f.lastID, "secret": secret, "userId": 4, "description": sent.Description, "seenAt": nil,
		"createdAt": "2026-11-20T05:39:00.000Z", "expiresAt": "2099-11-20T05:39:00.000Z",
	})
}

func answerError(w http.ResponseWriter, status int, name, message string) {
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]string{"id": "0b9b5f5e-7d0e-4c1c-8a55-2d7b1f0f9a06", "name": name, "message": message})
}
