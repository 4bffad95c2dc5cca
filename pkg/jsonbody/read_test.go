package jsonbody_test

import (
	"encoding/base64"
	"encoding/json"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"

	"toggleadmin/pkg/jsonbody"
	"toggleadmin/pkg/lambdahttp"
)

// read drives Schema.Read by the event of a request, as a function would, and gives status and message.
func read(t *testing.T, schema *jsonbody.Schema, event events.APIGatewayProxyRequest) (status int, message string) {
	t.Helper()
	handler := lambdahttp.New(func(_ http.ResponseWriter, r *http.Request) error {
		_, err := schema.Read(r)
		return err
	}, lambdahttp.Options{Logger: slog.New(slog.DiscardHandler), Now: time.Now, NewID: func() string { return "id" }})
	event.Resource, event.HTTPMethod = "/api/admin/feature-types/{id}/lifetime", "PUT"
	payload, err := json.Marshal(event)
	if err != nil {
		t.Fatal(err)
	}
	out, err := handler.Invoke(t.Context(), payload)
	if err != nil {
		t.Fatal(err)
	}
	var answer events.APIGatewayProxyResponse
	var body struct{ Message string }
	if err := json.Unmarshal(out, &answer); err != nil {
		t.Fatal(err)
	}
	if answer.Body != "" {
		if err := json.Unmarshal([]byte(answer.Body), &body); err != nil {
			t.Fatal(err)
		}
	}
	return answer.StatusCode, body.Message
}

func typed(contentTypes ...string) map[string][]string {
	return map[string][]string{"content-type": contentTypes}
}

func TestContentTypeMustBeApplicationJSON(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name    string
		headers map[string][]string
		status  int
	}{
		{"application/json", typed("application/json"), 200},
		{"in any letter case", typed("Application/JSON"), 200},
		{"with a charset", typed("application/json; charset=utf-8"), 200},
		{"with a charset, no space", typed("application/json;charset=utf-8"), 200},
		{"with any parameters", typed(`application/json; a=b; c="d;e,f"`), 200},
		{"with a parameter twice", typed(`application/json; a=b; a=c`), 200},
		{"with a broken parameter", typed("application/json; ="), 200},
		{"with an empty parameter", typed("application/json;"), 200},
		{"in white space", typed(" application/json "), 200},
		{"white space before the parameters", typed("application/json ; charset=utf-8"), 200},
		{"the header's name in any letter case", map[string][]string{"CONTENT-type": {"application/json"}}, 200},
		{"a missing one", nil, 415},
		{"an empty one", typed(""), 415},
		{"a parameter alone", typed("; charset=utf-8"), 415},
		{"text", typed("text/plain"), 415},
		{"a form", typed("application/x-www-form-urlencoded"), 415},
		{"a suffix of json", typed("application/problem+json"), 415},
		{"merge patch", typed("application/merge-patch+json"), 415},
		{"json with more letters", typed("application/jsonx"), 415},
		{"json sequences", typed("application/json-seq"), 415},
		{"text/json", typed("text/json"), 415},
		{"a wildcard", typed("application/*"), 415},
		{"no slash", typed("json"), 415},
		{"two slashes", typed("application/json/x"), 415},
		{"something behind", typed("application/json x"), 415},
		{"a list", typed("application/json, application/json"), 415},
		{"a list in one header, with a parameter", typed("application/json, text/plain; a=b"), 415},
		{"two of them", typed("application/json", "application/json"), 415},
		{"two of them, another one first", typed("text/plain", "application/json"), 415},
		{"two of them in two spellings", map[string][]string{"Content-Type": {"application/json"}, "content-type": {"application/json"}}, 415},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			status, message := read(t, compileFile(t, lifetime), events.APIGatewayProxyRequest{MultiValueHeaders: tt.headers, Body: `{"lifetimeDays":7}`})
			if status != tt.status {
				t.Errorf("status %d, want %d", status, tt.status)
			}
			if tt.status == 415 && message != "The Content-Type must be application/json." {
				t.Errorf("message %q", message)
			}
		})
	}
}

func TestOrderOfChecksIs415Then413Then400(t *testing.T) {
	t.Parallel()
	const (
		unsupported = "The Content-Type must be application/json."
		tooLarge    = "The body must not be larger than 102400 bytes."
		empty       = "The `/body` must be a JSON object; it was empty."
		notBase64   = "The `/body` must be valid base64 where the request says that it is base64."
	)
	sized := func(n int) string {
		const before, after = `{"lifetimeDays":7,"x":"`, `"}`
		return before + strings.Repeat("x", n-len(before)-len(after)) + after
	}
	encoded := func(body string) string { return base64.StdEncoding.EncodeToString([]byte(body)) }
	jsonType := typed("application/json")
	for _, tt := range []struct {
		name    string
		event   events.APIGatewayProxyRequest
		status  int
		message string
	}{
		{"102,400 bytes", events.APIGatewayProxyRequest{MultiValueHeaders: jsonType, Body: sized(102_400)}, 200, ""},
		{"102,401 bytes", events.APIGatewayProxyRequest{MultiValueHeaders: jsonType, Body: sized(102_401)}, 413, tooLarge},
		{"too large before broken", events.APIGatewayProxyRequest{MultiValueHeaders: jsonType, Body: strings.Repeat("{", 102_401)}, 413, tooLarge},
		{"another type before too large", events.APIGatewayProxyRequest{MultiValueHeaders: typed("text/plain"), Body: sized(102_401)}, 415, unsupported},
		{"no type before too large", events.APIGatewayProxyRequest{Body: sized(102_401)}, 415, unsupported},
		{"another type before broken", events.APIGatewayProxyRequest{MultiValueHeaders: typed("text/plain"), Body: "{"}, 415, unsupported},
		{"no type, also where the body is empty", events.APIGatewayProxyRequest{}, 415, unsupported},
		{"an empty body", events.APIGatewayProxyRequest{MultiValueHeaders: jsonType}, 400, empty},
		{"bytes count, not characters", events.APIGatewayProxyRequest{MultiValueHeaders: jsonType, Body: `{"lifetimeDays":7,"x":"` + strings.Repeat("é", 51_200) + `"}`}, 413, tooLarge},
		{"base64", events.APIGatewayProxyRequest{MultiValueHeaders: jsonType, Body: encoded(`{"lifetimeDays":7}`), IsBase64Encoded: true}, 200, ""},
		{"base64 of nothing", events.APIGatewayProxyRequest{MultiValueHeaders: jsonType, IsBase64Encoded: true}, 400, empty},
		{"base64 of 102,400 bytes", events.APIGatewayProxyRequest{MultiValueHeaders: jsonType, Body: encoded(sized(102_400)), IsBase64Encoded: true}, 200, ""},
		{"base64 of 102,401 bytes", events.APIGatewayProxyRequest{MultiValueHeaders: jsonType, Body: encoded(sized(102_401)), IsBase64Encoded: true}, 413, tooLarge},
		{"broken base64", events.APIGatewayProxyRequest{MultiValueHeaders: jsonType, Body: "%%%", IsBase64Encoded: true}, 400, notBase64},
		{"another type before broken base64", events.APIGatewayProxyRequest{MultiValueHeaders: typed("text/plain"), Body: "%%%", IsBase64Encoded: true}, 415, unsupported},
		{
			"invalid UTF-8 that arrives base64-encoded is 400",
			events.APIGatewayProxyRequest{MultiValueHeaders: jsonType, Body: encoded("{\"lifetimeDays\":7,\"x\":\"\xff\"}"), IsBase64Encoded: true},
			400, "The `/body` must be valid JSON; it is broken at byte 23.",
		},
		{
			"invalid UTF-8 otherwise has become U+FFFD before and is that character",
			events.APIGatewayProxyRequest{MultiValueHeaders: jsonType, Body: "{\"lifetimeDays\":7,\"x\":\"\xff\"}"}, 200, "",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			status, message := read(t, compileFile(t, lifetime), tt.event)
			if status != tt.status {
				t.Errorf("status %d, want %d", status, tt.status)
			}
			if diff := cmp.Diff(tt.message, message); diff != "" {
				t.Errorf("message (-want +got):\n%s", diff)
			}
		})
	}
}

func TestCompileRefusesWhatIsNoSchema(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, file string }{
		{"no JSON", `{`}, {"an unknown type", `{"type":"text"}`}, {"a broken pattern", `{"pattern":"("}`}, {"a reference to nowhere", `{"$ref":"#/nowhere"}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if _, err := jsonbody.Compile([]byte(tt.file)); err == nil {
				t.Error("compiled")
			}
		})
	}
}
