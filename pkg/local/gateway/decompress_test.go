package gateway_test

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"io"
	"strings"
	"testing"

	"toggleadmin/test/helper/assert"
)

func TestCompressedRequests(t *testing.T) {
	t.Parallel()
	compress := func(w io.WriteCloser, buffer *bytes.Buffer, text string) string {
		if _, err := io.WriteString(w, text); err != nil {
			t.Fatal(err)
		}
		assert.OK(t, w.Close())
		defer buffer.Reset()
		return buffer.String()
	}
	var buffer bytes.Buffer
	gzipped := compress(gzip.NewWriter(&buffer), &buffer, "text")
	deflated := compress(zlib.NewWriter(&buffer), &buffer, "text")
	const largest = 10 << 20
	bomb := compress(gzip.NewWriter(&buffer), &buffer, strings.Repeat("a", largest+1))
	for _, tt := range []struct {
		name, coding, body string
		status             int
		event              string // part of the function's event, if it is called
	}{
		{"gzip", "gzip", gzipped, 200, `"body":"text","headers":{"Host"`},
		{"gzip in capitals", "GZIP", gzipped, 200, `"body":"text"`},
		{"deflate", "deflate", deflated, 200, `"body":"text"`},
		{"identity", "identity", "text", 200, `"body":"text"`},
		{"an unknown coding", "br", "text", 415, ""},
		{"two codings", "gzip, deflate", "text", 415, ""},
		{"another coding than declared", "deflate", gzipped, 415, ""},
		{"no coding", "gzip", "text", 415, ""},
		{"no body", "gzip", "", 415, ""},
		{"an incomplete body", "gzip", gzipped[:len(gzipped)-1], 415, ""},
		{"above the limit", "gzip", bomb, 413, ""},
	} {
		s := newService()
		s.declare("UNSUPPORTED_MEDIA_TYPE", 415, "unsupported", nil)
		w := s.send(t, "POST /open Content-Encoding: "+tt.coding, tt.body)
		if w.Code != tt.status {
			t.Errorf("%s: status %d, want %d", tt.name, w.Code, tt.status)
		}
		event := strings.Join(s.events, "")
		if !strings.Contains(event, tt.event) || (event == "") != (tt.event == "") {
			t.Errorf("%s: the function receives %s, want %s in it", tt.name, event, tt.event)
		}
	}
}
