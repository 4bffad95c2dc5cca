package contract_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/lambdahttp"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/openapi"
)

var noPath = result{404, "The path you were looking for is not available."}

func TestSection1NoCredentialInErrors(t *testing.T) {
	t.Parallel()
	s := start(t)
	secret := s.Users[2].PAT
	encoded := strings.ReplaceAll(secret, "v2_", "%76%32%5F")
	put := func(target, body string) call {
		return call{method: http.MethodPut, target: "/api/admin/" + target, body: body, token: s.admin(),
			contentType: "application/json"}
	}
	get := func(target string) call {
		return call{method: http.MethodGet, target: "/api/admin/" + target, token: s.admin()}
	}
	for _, c := range []call{
		put("feature-types/release/lifetime", `{"a":["`+secret+`"]}`), put("feature-types/release/lifetime", secret),
		put("feedback/x", `{"`+secret+`":1,"`+secret+`":2}`), put("feedback/"+encoded+"%ff", `{}`),
		put("feature-types/"+encoded+"/lifetime", `{"lifetimeDays":1}`), get(secret), get("metrics/traffic/" + encoded),
		{
			method: http.MethodPost, target: "/api/admin/service-account/" + encoded + "/token", token: s.admin(),
			body: `{"description":"d","expiresAt":"2199-01-01T00:00:00Z"}`, contentType: "application/json",
		},
	} {
		if got, _ := s.send(t, c); got.message == "" || strings.Contains(got.message, secret[40:50]) {
			t.Errorf("%s %s: %+v", c.method, c.target, got)
		}
	}
}

// A client that asks for details learns the place of each invalid property, at every depth of every body.
func TestSection1Details(t *testing.T) {
	t.Parallel()
	s := start(t)
	doc, err := openapi.Document()
	assert.OK(t, err)
	schemas := map[string]*openapi3.Schema{}
	for _, item := range doc.Paths.Map() {
		for _, declared := range item.Operations() {
			if declared.RequestBody != nil {
				schemas[declared.OperationID] = declared.RequestBody.Value.Content["application/json"].Schema.Value
			}
		}
	}
	s.each(t, func(t *testing.T, op operation) {
		t.Helper()
		if op.name == "updateSegment" { // its permission depends on the stored segment, so that it must exist
			_, header := s.send(t, call{
				method: http.MethodPost, target: "/api/admin/segments", body: `{"name":"details","constraints":[]}`,
				token: op.token, contentType: "application/json",
			})
			op.target = strings.TrimPrefix(header.Get("Location"), s.BaseURL)
		}
		for path, body := range invalidBodies(schemas[op.name]) {
			op.body = body
			if got := s.details(t, op.call); !slices.Contains(got, "/body"+path) {
				t.Errorf("%s %s with %s: the details have the places %q", op.method, op.target, body, got)
			}
		}
	})
}

// invalidBodies returns bodies with a value of a wrong type at one place, by the JSON pointer of the place. Other
// properties are missing.
func invalidBodies(schema *openapi3.Schema) map[string]string {
	bodies := map[string]string{}
	if schema == nil || schema.ReadOnly {
		return bodies
	}
	switch integer := schema.Type.Includes("integer"); {
	case integer && schema.Type.Includes("string"):
		bodies[""] = "true"
	case integer:
		bodies[""] = `"x"`
	default:
		bodies[""] = "7"
	}
	for name, property := range schema.Properties {
		for path, value := range invalidBodies(property.Value) {
			bodies["/"+name+path] = fmt.Sprintf(`{%q:%s}`, name, value)
		}
	}
	if schema.Items != nil && (schema.MaxItems == nil || *schema.MaxItems > 0) {
		for path, value := range invalidBodies(schema.Items.Value) {
			bodies["/0"+path] = "[" + value + "]"
		}
	}
	if others := schema.AdditionalProperties.Schema; others != nil {
		for path, value := range invalidBodies(others.Value) {
			bodies["/other"+path] = `{"other":` + value + "}"
		}
	}
	return bodies
}

// details returns the places in the details of the error of a request.
func (s *service) details(t *testing.T, c call) (paths []string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), c.method, s.BaseURL+c.target, strings.NewReader(c.body))
	assert.OK(t, err)
	for name, value := range map[string]string{
		"Authorization": c.token, "Content-Type": c.contentType, "Prefer": lambdahttp.PreferDetails,
	} {
		request.Header.Set(name, value)
	}
	response, err := s.client.Do(request)
	assert.OK(t, err)
	defer response.Body.Close()
	var object struct{ Details []apierror.Detail }
	assert.OK(t, json.NewDecoder(response.Body).Decode(&object))
	for _, d := range object.Details {
		paths = append(paths, d.Path)
	}
	return paths
}

func TestSection1UnknownPath(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.each(t, func(t *testing.T, op operation) {
		t.Helper()
		for _, op.method = range []string{http.MethodPatch, http.MethodOptions} {
			for _, op.token = range []string{"", "malformed", s.admin()} {
				if header := s.want(t, op.call, noPath); header.Get("Allow") != "" {
					t.Errorf("%s %s has an Allow header", op.method, op.target)
				}
			}
		}
	})
}

// repeatable sends the request of an operation twice and returns the second result. A creation is a conflict from then
// on.
func (s *service) repeatable(t *testing.T, op operation) result {
	t.Helper()
	s.send(t, op.call)
	got, _ := s.send(t, op.call)
	return got
}

func TestSection2ContentType(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.each(t, func(t *testing.T, op operation) {
		t.Helper()
		want, body := s.repeatable(t, op), op.body
		for _, op.contentType = range []string{"Application/JSON", "application/json; charset=utf-8"} {
			op.body = body
			s.want(t, op.call, want)
			if op.body = ""; !op.hasBody {
				s.want(t, op.call, want)
			} else if got, _ := s.send(t, op.call); got.status != 400 || !strings.Contains(got.message, "`/body`") {
				t.Errorf("without a body: %+v", got)
			}
		}
		if op.hasBody {
			want = result{415, "The Content-Type must be application/json."}
		}
		for _, op.contentType = range []string{"", "text/plain"} {
			for _, op.body = range []string{"", body, "{" + strings.Repeat(" ", 102_400)} {
				s.want(t, op.call, want)
			}
		}
	})
}

func TestSection2Reason(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.each(t, func(t *testing.T, op operation) {
		t.Helper()
		want := s.repeatable(t, op)
		op.reason = "Sale%20(50%25)"
		s.want(t, op.call, want)
		if op.method != http.MethodGet {
			want = result{400, "The `Change-Reason` header must be percent-encoded UTF-8 of at most 300 characters, without " +
				`control characters; you sent "50%".`}
		}
		op.reason = "50%"
		s.want(t, op.call, want)
	})
}

func TestSection2QueryAndSlashes(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.each(t, func(t *testing.T, op operation) {
		t.Helper()
		want, path := s.repeatable(t, op), op.target
		for _, suffix := range []string{"?none=1&period=x", "?%zz", "/", "/?x=y"} {
			op.target = path + suffix
			s.want(t, op.call, want)
		}
		for _, op.target = range []string{"/" + path, path + "//", strings.Replace(path, "/admin", "//admin", 1)} {
			s.want(t, op.call, noPath)
		}
	})
}

// The document declares who may perform an operation.
func TestSection3Permissions(t *testing.T) {
	t.Parallel()
	s := start(t)
	// The permission depends on the project of what is stored.
	ofRecord := map[string]bool{"reviveFeature": true, "deleteFeature": true, "updateSegment": true, "removeSegment": true,
		"addTag": true, "updateTags": true, "removeTag": true}
	s.each(t, func(t *testing.T, op operation) {
		t.Helper()
		for i, token := range []string{s.Users[0].PAT, s.Users[1].PAT, s.Users[2].PAT, s.APIToken} {
			isEditor, isViewer, isAPIToken := i == 1, i == 2, i == 3
			want := result{}
			for message, status := range op.denials {
				if ofRecord[op.name] { // which does not exist
					continue
				}
				permission, needsPermission := strings.CutPrefix(message, `You need the "`)
				needsUser := strings.Contains(message, "a token that identifies a user")
				ofAdmins := strings.HasPrefix(permission, "ADMIN") || // and of the Owners of a project
					strings.HasPrefix(permission, "UPDATE_PROJECT") || strings.HasPrefix(permission, `DELETE_PROJECT"`) ||
					strings.HasPrefix(permission, "PROJECT_USER_ACCESS") || strings.HasPrefix(permission, "PROJECT_CHANGE_REQUEST") ||
					strings.Contains(permission, "_CLIENT_API_TOKEN") && !strings.HasPrefix(permission, "READ")
				if isViewer && needsPermission || isEditor && ofAdmins || isAPIToken && needsUser {
					want = result{status, message}
				}
			}
			op.token = token
			if want.status != 0 {
				header := s.want(t, op.call, want)
				if want.status == http.StatusUnauthorized {
					requireChallenge(t, op, header)
				}
			} else if got, _ := s.send(t, op.call); got.status == 401 || got.status == 403 {
				t.Errorf("%s %s: %+v", op.method, op.target, got)
			}
		}
	})
}

func TestSection3InvalidCredentials(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.each(t, func(t *testing.T, op operation) {
		t.Helper()
		for _, op.token = range []string{"", "malformed"} {
			header := s.want(t, op.call, result{401, "You need a valid credential in the Authorization header."})
			requireChallenge(t, op, header)
		}
	})
}

// requireChallenge fails the test unless the headers of a 401 say how to authenticate.
func requireChallenge(t *testing.T, op operation, header http.Header) {
	t.Helper()
	if got := header.Values("WWW-Authenticate"); !slices.Equal(got, []string{"Bearer"}) {
		t.Errorf("%s %s: WWW-Authenticate %q", op.method, op.target, got)
	}
}

// The document lists every type of event.
func TestSection413Types(t *testing.T) {
	t.Parallel()
	doc, err := openapi.Document()
	assert.OK(t, err)
	var declared []eventlog.Type
	for _, value := range doc.Components.Schemas["eventTypeSchema"].Value.Enum {
		text, _ := value.(string)
		declared = append(declared, eventlog.Type(text))
	}
	slices.Sort(declared)
	assert.Equal(t, eventlog.Types(), declared)
}
