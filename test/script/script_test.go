package script_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"toggleadmin/test/openapi"
	"toggleadmin/test/script"
)

func TestVocabulary(t *testing.T) {
	t.Parallel()
	ground, server := startFake(t, script.Local)
	script.Run(t, ground, "testdata") // has ended when it returns: scripts are not parallel
	server.mu.Lock()
	defer server.mu.Unlock()
	if len(server.tokens) > 0 {
		t.Errorf("the scripts left %d tokens", len(server.tokens))
	}
	if fmt.Sprint(server.lifetime) != "40" {
		t.Errorf("the scripts left the lifetime %v", server.lifetime)
	}
}

// Each of these scripts must fail, with a text that says why and holds no secret.
func TestScriptsFail(t *testing.T) {
	t.Parallel()
	validator, err := openapi.Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	const list = "GET /api/admin/feature-types as admin\n"
	tests := []struct{ name, script, want string }{
		{"another status", list + "status 201", "the status is 200"},
		{"a negated status", list + "! status 200", "the status is 200"},
		{"another value", list + "json version 2", "version is 1"},
		{"a string for a number", list + `json version "1"`, "version is 1"},
		{"no such place", list + "json types.7.id release", "there is no types.7.id"},
		{"a member too many", list + "json types.0 members id name description", "types.0 is"},
		{"another length", list + "json types length 2", "types is"},
		{"no match", list + "json types.0.id matches ^x", "types.0.id is release"},
		{"a present member", list + "json version absent", "version is 1"},
		{"another header", list + "header Cache-Control private", `"no-store"`},
		{"a missing header", list + "header Retry-After 1", `the header Retry-After is ""`},
		{"a body", list + "body empty", "bytes, want 0"},
		{"no error", list + "error NotFoundError text", "not an object of id, name and message"},
		{"another text", "GET /x as admin\nerror NotFoundError text", `want "text"`},
		{"another name", "GET /x as admin\nerror ValidationError text", `want "ValidationError"`},
		{"no match of the text", "GET /x as admin\nerror NotFoundError matches ^x", "the message is"},
		{"another place", "PUT /api/admin/feature-types/release/lifetime as admin {}\nerror ValidationError names /body", `names ["/body/lifetimeDays"]`},
		{"a valid credential", list + "unauthenticated", "want 401"},
		{"undocumented", "GET /api/admin/context as admin", "api/openapi.yaml does not foresee this"},
		{"success for what does not fit", `PUT /api/admin/feature-types/release/lifetime as admin {"lifetimeDays": -1}`, "request is invalid"},
		{"unknown person", "GET /x as nobody", `unknown credential "nobody"`},
		{"unknown condition", "[moonlight] " + list, `unknown condition "moonlight"`},
		{"no request yet", "status 200", "no request was made yet"},
		{"never", "until 404 within 1ms " + list, "not 404 within 1ms"},
		{"a secret", "POST /api/admin/service-account/4/token as admin " + `{"description": "d", "expiresAt": "$TOMORROW"}` + "\nstatus 200", "v2_[redacted]"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			ground, _ := startFake(t, script.Local)
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "fails.txtar"), []byte(test.script+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			failed := script.FailuresWith(t.Context(), validator, ground, dir)
			if len(failed) != 1 || failed[0].Script != "fails" {
				t.Fatalf("one script was to fail, these did: %+v", failed)
			}
			if log := failed[0].Log; !strings.Contains(log, test.want) || strings.Contains(log, "0000000000000001") {
				t.Errorf("it failed without %q or with a secret:\n%s", test.want, log)
			}
		})
	}
}

// Under sam local the gateway's own refusals are what is expected, and nothing else is.
func TestSAMGround(t *testing.T) {
	t.Parallel()
	validator, err := openapi.Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ground, _ := startFake(t, script.SAM)
	dir := t.TempDir()
	text := "GET /api/admin/feature-types as none\nunauthenticated\n"
	if err := os.WriteFile(filepath.Join(dir, "sam.txtar"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	failed := script.FailuresWith(t.Context(), validator, ground, dir)
	if len(failed) != 1 || !strings.Contains(failed[0].Log, "sam local answers an invalid credential with its own 403") {
		t.Errorf("a 401 with the error object is to fail as sam local's answer: %+v", failed)
	}
}
