package gateway

import (
	"bytes"
	"compress/gzip"
	"strconv"
	"strings"
	"sync"
)

var gzipWriters = sync.Pool{New: func() any { return gzip.NewWriter(nil) }}

// compress compresses the body of a response if the client prefers gzip and the function has not compressed it.
func (r *request) compress(response *response) {
	minimum := r.gateway.config.API.MinimumCompressionSize
	if minimum == nil || len(response.body) < *minimum || response.body == "" ||
		response.header["Content-Encoding"] != nil || preferred(r.http.Header["Accept-Encoding"]) != "gzip" {
		return
	}
	var compressed bytes.Buffer
	w := gzipWriters.Get().(*gzip.Writer) //nolint:errcheck,forcetypeassert // of New
	defer gzipWriters.Put(w)
	w.Reset(&compressed)
	_, _ = w.Write([]byte(response.body)) // to a buffer
	_ = w.Close()
	response.header["Content-Encoding"] = []string{"gzip"}
	response.body = compressed.String()
}

// preferred returns the content coding with the highest priority in the values of Accept-Encoding, the first one of
// several.
func preferred(accepted []string) string {
	best, highest := "", 0.0
	for item := range strings.SplitSeq(strings.ToLower(strings.Join(accepted, ",")), ",") {
		coding, parameters, _ := strings.Cut(item, ";")
		priority := 1.0
		if q, ok := strings.CutPrefix(strings.TrimSpace(parameters), "q="); ok {
			priority, _ = strconv.ParseFloat(q, 64) // 0 if it is malformed
		}
		if priority > highest {
			best, highest = strings.TrimSpace(coding), priority
		}
	}
	return best
}
