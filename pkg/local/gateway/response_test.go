package gateway_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toggleadmin/pkg/samtemplate"
)

func TestFunctionAnswer(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, output, body string
		status             int
		headers            map[string][]string // nil value: absent
	}{
		{"Plain", `{"statusCode":201,"headers":{"content-type":"text/plain"},"body":"a\u00e9\n"}`, "aé\n", 201,
			map[string][]string{"Content-Type": {"text/plain"}, "Content-Length": {"4"}}},
		{"DefaultContentType", ok, "ok", 200, map[string][]string{"Content-Type": {"application/json"}}},
		{"DefaultContentTypeOnAnEmptyBody", `{"statusCode":200,"body":""}`, "", 200,
			map[string][]string{"Content-Type": {"application/json"}, "Content-Length": {"0"}}},
		{"NoContent", `{"statusCode":204}`, "", 204, map[string][]string{"Content-Type": {"application/json"}, "Content-Length": nil}},
		{"BodyNull", `{"statusCode":200,"body":null,"headers":null,"multiValueHeaders":null}`, "", 200, nil},
		{"StatusAsText", `{"statusCode":"202"}`, "", 202, nil},
		{"MultiValueHeaders", `{"statusCode":200,"multiValueHeaders":{"Set-Cookie":["a=1","b=2"]}}`, "", 200,
			map[string][]string{"Set-Cookie": {"a=1", "b=2"}}},
		{"MultiValueHeadersWin", `{"statusCode":200,"headers":{"X-A":"single","X-B":"b"},"multiValueHeaders":{"x-a":["1","2"]}}`, "", 200,
			map[string][]string{"X-A": {"1", "2"}, "X-B": {"b"}}},
		{"ScalarHeaderValues", `{"statusCode":200,"headers":{"X-N":1,"X-B":true,"X-Null":null}}`, "", 200,
			map[string][]string{"X-N": {"1"}, "X-B": {"true"}, "X-Null": nil}},
		{"Base64StaysAsItIsWithoutBinaryMediaTypes", `{"statusCode":200,"body":"aGk=","isBase64Encoded":true}`, "aGk=", 200, nil},
		{"RemappedHeaders", `{"statusCode":401,"headers":{"WWW-Authenticate":"Bearer","Server":"s","Date":"d","Connection":"close",` +
			`"Authorization":"a",` +
			`"User-Agent":"u","Content-MD5":"m","Max-Forwards":"1","Content-Length":"99","x-amzn-RequestId":"mine"}}`, "", 401,
			map[string][]string{
				"Www-Authenticate": nil, "X-Amzn-Remapped-Www-Authenticate": {"Bearer"}, "Server": nil, "X-Amzn-Remapped-Server": {"s"},
				"X-Amzn-Remapped-Date": {"d"}, "X-Amzn-Remapped-Connection": {"close"}, "Authorization": nil,
				"X-Amzn-Remapped-Authorization": {"a"}, "X-Amzn-Remapped-User-Agent": {"u"}, "X-Amzn-Remapped-Content-Md5": {"m"},
				"X-Amzn-Remapped-Max-Forwards": {"1"}, "X-Amzn-Remapped-Content-Length": {"99"}, "Content-Length": {"0"},
				"X-Amzn-Remapped-X-Amzn-Requestid": {"mine"},
			}},
		{"DroppedHeaders", `{"statusCode":200,"headers":{"Transfer-Encoding":"chunked","Upgrade":"x","Trailer":"X",` +
			`"TE":"x","Expect":"x","Host":"x",` +
			`"Via":"x","Keep-Alive":"x","Proxy-Authenticate":"x"}}`, "", 200,
			map[string][]string{"Upgrade": nil, "Trailer": nil, "Te": nil, "Expect": nil, "Host": nil, "Via": nil,
				"Keep-Alive": nil, "Proxy-Authenticate": nil}},
		{"GatewayHeaders", ok, "ok", 200, map[string][]string{
			"X-Amzn-Requestid": {fmt.Sprintf(fixedUUID, 2)}, "X-Amz-Apigw-Id": {"AAAAAAAAAAABAAA="}, "X-Amzn-Errortype": nil,
			"X-Amzn-Trace-Id": {"Root=1-6a5145a8-000000000000400080000000"},
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			base := newSetup(says(tt.output), says(allowAll)).start(t)
			r := send(t, "GET", base+"/open", "")
			wantStatus(t, r, tt.status)
			equal(t, "body", r.text, tt.body)
			for name, want := range tt.headers {
				if diff := cmp.Diff(want, r.Header.Values(name)); diff != "" {
					t.Errorf("%s (-want +got):\n%s", name, diff)
				}
			}
		})
	}
}

func TestGatewayHeaderSpelling(t *testing.T) {
	t.Parallel()
	conn := dial(t, newSetup(says(ok), says(allowAll)).start(t))
	_, _ = fmt.Fprint(conn, "GET /nothing HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
	var text strings.Builder
	buffer := make([]byte, 4096)
	for {
		n, err := conn.Read(buffer)
		text.Write(buffer[:n])
		if err != nil {
			break
		}
	}
	for _, name := range []string{"\r\nx-amzn-RequestId: ", "\r\nx-amzn-ErrorType: ", "\r\nx-amz-apigw-id: "} {
		if !strings.Contains(text.String(), name) {
			t.Errorf("no %q in %s", name, text.String())
		}
	}
}

func TestFunctionFaultIs502(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name     string
		function handler
	}{
		{"Error", fails(errors.New("boom"))},
		{"Panic", func(context.Context, []byte) ([]byte, error) { panic("boom") }},
		{"GoroutineExits", func(context.Context, []byte) ([]byte, error) { runtime.Goexit(); return nil, nil }},
		{"Nothing", says("")},
		{"NoJSON", says("hello")},
		{"Null", says("null")},
		{"Array", says("[]")},
		{"Text", says(`"ok"`)},
		{"EmptyObject", says("{}")},
		{"TwoDocuments", says(ok + ok)},
		{"UnknownKey", says(`{"statusCode":200,"cookies":[]}`)},
		{"KeysHaveLetterCase", says(`{"StatusCode":200}`)},
		{"StatusMissing", says(`{"body":"x"}`)},
		{"StatusZero", says(`{"statusCode":0}`)},
		{"StatusTooLarge", says(`{"statusCode":600}`)},
		{"StatusInformational", says(`{"statusCode":101}`)},
		{"StatusFraction", says(`{"statusCode":200.5}`)},
		{"StatusWord", says(`{"statusCode":"fine"}`)},
		{"StatusNull", says(`{"statusCode":null}`)},
		{"BodyObject", says(`{"statusCode":200,"body":{"a":1}}`)},
		{"BodyNumber", says(`{"statusCode":200,"body":1}`)},
		{"HeaderObject", says(`{"statusCode":200,"headers":{"a":{}}}`)},
		{"HeaderArray", says(`{"statusCode":200,"headers":{"a":["b"]}}`)},
		{"HeadersArray", says(`{"statusCode":200,"headers":[]}`)},
		{"MultiValueHeaderText", says(`{"statusCode":200,"multiValueHeaders":{"a":"b"}}`)},
		{"Base64Text", says(`{"statusCode":200,"isBase64Encoded":"yes"}`)},
		{"ResponseAbove6MB", says(`{"statusCode":200,"body":"` + strings.Repeat("a", 6*1024*1024) + `"}`)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := newSetup(tt.function, says(allowAll))
			s.config.API.GatewayResponses["DEFAULT_5XX"] = samtemplate.GatewayResponse{
				Templates: map[string]string{"application/json": `{"name":"InternalError"}`},
			}
			base := s.start(t)
			r := send(t, "GET", base+"/open", "")
			wantStatus(t, r, http.StatusBadGateway)
			equal(t, "body", r.text, `{"name":"InternalError"}`)
			equal(t, "error type", r.Header.Get("X-Amzn-Errortype"), "InternalServerErrorException")
			if s.record.Load().Err == nil {
				t.Error("the record has no cause")
			}
		})
	}
}

func TestLimits(t *testing.T) {
	t.Parallel()
	s := newSetup(says(ok), says(allowAll))
	base := s.start(t)
	body := func(n int) string { return strings.Repeat("a", n) }
	t.Run("PayloadAbove10MBIs413WithTheGatewaysOwnBody", func(t *testing.T) {
		t.Parallel()
		r := send(t, "POST", base+"/open", body(10*1024*1024+1))
		wantStatus(t, r, http.StatusRequestEntityTooLarge)
		equal(t, "body", r.text, "HTTP content length exceeded 10485760 bytes.")
	})
	t.Run("ChunkedPayloadAbove10MBIs413", func(t *testing.T) {
		t.Parallel()
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, base+"/open",
			struct{ *strings.Reader }{strings.NewReader(body(11 << 20))})
		if err != nil {
			t.Fatal(err)
		}
		response, err := http.DefaultTransport.RoundTrip(request)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = response.Body.Close() }()
		if response.StatusCode != http.StatusRequestEntityTooLarge {
			t.Errorf("status %d", response.StatusCode)
		}
	})
	t.Run("EventAbove6MBIs413", func(t *testing.T) {
		t.Parallel()
		r := send(t, "POST", base+"/open", body(6*1024*1024))
		wantStatus(t, r, http.StatusRequestEntityTooLarge)
		equal(t, "body", r.text, `{"message":"Request Too Long"}`)
	})
	t.Run("EventAtTheLimit", func(t *testing.T) {
		t.Parallel()
		function := &capture{}
		inner := newSetup(function.Invoke, says(allowAll)).start(t)
		wantStatus(t, send(t, "POST", inner+"/open", "a"), http.StatusOK)
		rest := 6*1024*1024 - len(function.text(t)) + 1
		// The longer Content-Length is no part of the event.
		wantStatus(t, send(t, "POST", inner+"/open", body(rest)), http.StatusOK)
		wantStatus(t, send(t, "POST", inner+"/open", body(rest+1)), http.StatusRequestEntityTooLarge)
	})
	t.Run("HeadersAbove10240BytesAre431", func(t *testing.T) {
		t.Parallel()
		wantStatus(t, send(t, "GET", base+"/open", "", "X-Large: "+body(10000)), http.StatusOK)
		r := send(t, "GET", base+"/open", "", "X-Large: "+body(10240))
		wantStatus(t, r, http.StatusRequestHeaderFieldsTooLarge)
		equal(t, "body", r.text, `{"message":"Request Header Fields Too Large"}`)
		wantStatus(t, send(t, "GET", base+"/open", "", "X-Large: "+body(200_000)), http.StatusRequestHeaderFieldsTooLarge)
	})
}

func TestHeadHasHeadersButNoBody(t *testing.T) {
	t.Parallel()
	base := newSetup(says(ok), says(allowAll)).start(t)
	r := send(t, "HEAD", base+"/open", "")
	wantStatus(t, r, http.StatusOK)
	equal(t, "length", r.Header.Get("Content-Length"), "2")
	equal(t, "body", r.text, "")
}

// TestConcurrentRequestsKeepApart sends many requests at once and sees that each gets its own body, headers and id back.
func TestConcurrentRequestsKeepApart(t *testing.T) {
	t.Parallel()
	echo := func(_ context.Context, payload []byte) ([]byte, error) {
		var e struct {
			Body           string
			PathParameters map[string]string
			RequestContext struct{ Authorizer map[string]any }
		}
		if err := json.Unmarshal(payload, &e); err != nil {
			return nil, err
		}
		return json.Marshal(map[string]any{"statusCode": 200, "body": e.Body, "headers": map[string]any{
			"X-Id": e.PathParameters["id"], "X-User": e.RequestContext.Authorizer["user"],
		}})
	}
	authorizer := func(_ context.Context, payload []byte) ([]byte, error) {
		var e struct{ Headers map[string]string }
		if err := json.Unmarshal(payload, &e); err != nil {
			return nil, err
		}
		return []byte(policyOf(`{"Action":"*","Effect":"Allow","Resource":"*"}`, `{"user":"`+e.Headers["Authorization"]+`"}`)), nil
	}
	base := newSetup(echo, authorizer).start(t)
	var group sync.WaitGroup
	for client := range 8 {
		group.Go(func() {
			for i := range 40 {
				id := fmt.Sprintf("%d-%d", client, i)
				body := strings.Repeat(id, i*20)
				r := send(t, "PUT", base+"/things/"+id, body, "Authorization: "+id)
				if r.StatusCode != http.StatusOK || r.text != body || r.Header.Get("X-Id") != id || r.Header.Get("X-User") != id {
					t.Errorf("request %s: status %d, id %s, user %s", id, r.StatusCode, r.Header.Get("X-Id"), r.Header.Get("X-User"))
				}
			}
		})
	}
	group.Wait()
}
