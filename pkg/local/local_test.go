package local_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/smithy-go/middleware"

	"toggleadmin/pkg/local"
	"toggleadmin/pkg/platform/app"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/enginetest"
	"toggleadmin/test/helper/localtest"
	"toggleadmin/test/helper/process"
)

// send returns status and body of a request.
func send(tb testing.TB, service local.Running, method, path, token, body string) (int, string) {
	tb.Helper()
	request, err := http.NewRequestWithContext(tb.Context(), method, service.BaseURL+path, strings.NewReader(body))
	assert.OK(tb, err)
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Authorization", token)
	response, err := http.DefaultClient.Do(request)
	assert.OK(tb, err)
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	assert.OK(tb, err)
	return response.StatusCode, string(content)
}

// setLifetime changes the lifetime of the type release.
func setLifetime(tb testing.TB, service local.Running, days int) {
	tb.Helper()
	status, body := send(tb, service, http.MethodPut, "/api/admin/feature-types/release/lifetime", service.APIToken,
		fmt.Sprintf(`{"lifetimeDays":%d}`, days))
	if status != http.StatusOK {
		tb.Fatalf("%d %s", status, body)
	}
}

func TestLocalJSON(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "it's data")
	var stdout process.Output
	service := localtest.Start(t, local.Config{DataDir: dir, Stdout: &stdout})
	file := filepath.Join(dir, "local.json")
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info, err)
	}
	content, err := os.ReadFile(file)
	assert.OK(t, err)
	var written local.Running
	assert.OK(t, json.Unmarshal(content, &written))
	assert.Equal(t, service, written)
	if len(written.Users) != 3 || len(written.ServiceAccounts) != 1 {
		t.Errorf("%s", content)
	}
	first := regexp.MustCompile("^ready " + service.BaseURL + "\n\n  Console: " + service.BaseURL +
		`/console/#code=[\w-]{22}\n  Applications: ` + service.ClientURL + "\n").FindString(stdout.String())
	commands := strings.TrimPrefix(stdout.String(), first)
	if first == "" || strings.Contains(commands, "v2_") {
		t.Errorf("stdout %q", stdout.String())
	}
	out, err := exec.CommandContext(t.Context(), "sh", "-c", `curl() { printf '%s\n' "$*"; }`+"\n"+commands).CombinedOutput()
	want := "-s -H Authorization: " + service.Users[0].PAT + ` -w \n ` + service.BaseURL + "/api/admin/feature-types\n" +
		"-s -H Authorization: " + service.ClientTokens[0].Secret + ` -w \n ` + service.ClientURL + "/api/client/features\n"
	if err != nil || string(out) != want {
		t.Errorf("the commands to try: %v\n%s\nwant %s", err, out, want)
	}
}

// TestPermissions starts in a folder that everybody can read, with a database of the default mode.
func TestPermissions(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	assert.OK(t, os.Chmod(dir, 0o755))
	_, stop := localtest.StartStop(t, local.Config{DataDir: dir})
	stop()
	assert.OK(t, os.Chmod(filepath.Join(dir, "dynamodb.db"), 0o644))
	service := localtest.Start(t, local.Config{DataDir: dir})
	setLifetime(t, service, 12)
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) || path == dir { // replaced or deleted meanwhile
			return nil
		}
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has the mode %v", path, info.Mode())
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// Others could read the credentials in a folder to which they can write.
func TestFolderOfOthersIsRejected(t *testing.T) {
	t.Parallel()
	foreign := "/" // of root
	if os.Geteuid() == 0 {
		foreign = t.TempDir()
		assert.OK(t, os.Chown(foreign, 1, -1))
	}
	forAll, forGroup := t.TempDir(), t.TempDir()
	assert.OK(t, errors.Join(os.Chmod(forAll, 0o777), os.Chmod(forGroup, 0o770)))
	for dir, want := range map[string]string{
		foreign:  "belongs to another user",
		forAll:   "can be written by other users (mode 0777)",
		forGroup: "can be written by other users (mode 0770)",
	} {
		err := local.Run(t.Context(), local.Config{Template: localtest.Template(t), DataDir: dir})
		if err == nil || !strings.Contains(err.Error(), "DATA_DIR "+dir+" "+want) {
			t.Errorf("error %v, want %q in it", err, want)
		}
	}
	for _, dir := range []string{forAll, forGroup} {
		if files, err := os.ReadDir(dir); err != nil || len(files) > 0 {
			t.Errorf("files %v, %v", files, err)
		}
	}
}

func TestListensOnOneAddress(t *testing.T) {
	t.Parallel()
	service := localtest.Start(t, local.Config{})
	address := strings.Replace(service.BaseURL, "http://127.0.0.1:", "127.0.0.2:", 1) // loopback too, on Linux
	if c, err := new(net.Dialer).DialContext(t.Context(), "tcp", address); err == nil {
		_ = c.Close()
		t.Errorf("%s accepts connections to %s", service.BaseURL, address)
	}
}

func TestRestartKeepsDataAndCredentials(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first, stop := localtest.StartStop(t, local.Config{DataDir: dir})
	setLifetime(t, first, 99)
	stop()
	var stderr process.Output
	second := localtest.Start(t, local.Config{DataDir: dir, Stderr: &stderr})
	assert.Equal(t, first.Credentials, second.Credentials)
	if _, body := send(t, second, "GET", "/api/admin/feature-types", first.Users[0].PAT, ""); !strings.Contains(body,
		`"lifetimeDays":99`) {
		t.Errorf("the lifetime is lost: %s", body)
	}
	if strings.Contains(stderr.String(), "credentials") {
		t.Errorf("stderr %q", stderr.String())
	}
}

func TestSeededTokensExpireWithinMaxTokenDays(t *testing.T) {
	t.Parallel()
	service := localtest.Start(t, local.Config{MaxTokenDays: 1})
	_, body := send(t, service, "GET", "/api/admin/user/tokens", service.Users[0].PAT, "")
	var list struct {
		PATs []struct{ ExpiresAt time.Time }
	}
	if err := json.Unmarshal([]byte(body), &list); err != nil || len(list.PATs) != 1 ||
		time.Until(list.PATs[0].ExpiresAt) > 24*time.Hour {
		t.Errorf("%v: %s", err, body)
	}
}

// TestGroupsMaxAgeDays checks that functions get the setting as the parameter of the template.
func TestGroupsMaxAgeDays(t *testing.T) {
	t.Parallel()
	for set, want := range map[string]string{"": "30", "7": "7"} {
		got := make(chan string, 1)
		localtest.Start(t, local.Config{GroupsMaxAgeDays: set, Functions: map[string]app.Constructor{
			"authorizer": func(e *app.Env) (lambda.Handler, error) {
				got <- e.Vars["GROUPS_MAX_AGE_DAYS"]
				return nil, nil //nolint:nilnil // no request is sent
			},
		}})
		assert.Equal(t, want, <-got)
	}
}

func TestDamagedCredentialsAreReplaced(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first, stop := localtest.StartStop(t, local.Config{DataDir: dir})
	stop()
	assert.OK(t, os.WriteFile(filepath.Join(dir, "local.json"), []byte(`{"users": 7`), 0o600))
	var stderr process.Output
	second := localtest.Start(t, local.Config{DataDir: dir, Stderr: &stderr})
	if got := strings.Count(stderr.String(), "new ones were created, and the old ones revoked"); got != 1 {
		t.Errorf("stderr %q", stderr.String())
	}
	for token, want := range map[string]int{first.APIToken: 401, first.Users[0].PAT: 401, second.APIToken: 200,
		second.Users[0].PAT: 200} {
		if status, _ := send(t, second, "GET", "/api/admin/context", token, ""); status != want {
			t.Errorf("%s: %d, want %d", token, status, want)
		}
	}
}

func TestRunningEngineIsUsedAndNotStopped(t *testing.T) {
	t.Parallel()
	host := localtest.Start(t, local.Config{})
	guest, stop := localtest.StartStop(t, local.Config{DynamoDBEndpoint: host.DynamoDBEndpoint})
	setLifetime(t, guest, 5)
	stop()
	// the guest replaced the credentials
	if status, _ := send(t, host, "GET", "/api/admin/context", guest.APIToken, ""); status != 200 {
		t.Errorf("after the guest has ended: %d", status)
	}
}

func TestTemplateWithAnUnknownFunction(t *testing.T) {
	t.Parallel()
	path := localtest.ChangedTemplate(t, "functions/get-all-feature-types/", "functions/list-all-types/")
	err := local.Run(t.Context(), local.Config{Template: path, DynamoDBEndpoint: enginetest.Endpoint(t)})
	if err == nil || !strings.Contains(err.Error(), "functions/list-all-types") ||
		!strings.Contains(err.Error(), "pkg/local/functions.go") {
		t.Errorf("error %v", err)
	}
}

// The causes of errors are on the terminal, and not in responses.
func TestFailedRequestsOnATerminal(t *testing.T) {
	t.Parallel()
	errBroken := errors.New("the connection is broken")
	fail := middleware.InitializeMiddlewareFunc("Fail", func(
		context.Context, middleware.InitializeInput, middleware.InitializeHandler,
	) (middleware.InitializeOutput, middleware.Metadata, error) {
		return middleware.InitializeOutput{}, middleware.Metadata{}, errBroken
	})
	for _, failing := range []string{"get-context-fields", "authorizer"} {
		t.Run(failing, func(t *testing.T) {
			t.Parallel()
			var stderr process.Output
			service := localtest.Start(t, local.Config{
				Stderr: &stderr, Terminal: true, RequestsOnly: true,
				APIOptions: func(function string) []func(*middleware.Stack) error {
					if function != failing {
						return nil
					}
					return []func(*middleware.Stack) error{func(stack *middleware.Stack) error {
						return stack.Initialize.Add(fail,
							middleware.After)
					}}
				},
			})
			status, body := send(t, service, "GET", "/api/admin/context", service.APIToken, "")
			if status != 500 || strings.Contains(body, "broken") {
				t.Errorf("%d %s", status, body)
			}
			output := stderr.String()
			for _, want := range []string{
				`(?m)^\S+ 500 GET    /api/admin/context [\d.]+ ms  \S+$`,
				`(?m)^\S+ ERROR .*  function=` + failing + `  .*\n +cause: .*connection is broken`,
			} {
				if !regexp.MustCompile(want).MatchString(output) {
					t.Errorf("the output does not match %s:\n%s", want, output)
				}
			}
		})
	}
}
