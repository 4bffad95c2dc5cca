package gateway

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"io"
	"strings"
)

// decompress returns the body without its content coding. It reads at most maxPayload bytes of the decompressed body,
// because a small body can decompress to one that does not fit into memory.
func (r *request) decompress(body []byte) (string, *gatewayError) {
	var reader io.Reader = bytes.NewReader(body)
	var err error
	switch coding := strings.Join(r.http.Header["Content-Encoding"], ","); strings.ToLower(coding) {
	case "", "identity":
		return string(body), nil
	case "gzip":
		reader, err = gzip.NewReader(reader)
	case "deflate": // in the zlib format: RFC 9110, section 8.4.1.2
		reader, err = zlib.NewReader(reader)
	default:
		return "", errUnsupportedMediaType
	}
	if err != nil {
		return "", errUnsupportedMediaType
	}
	decompressed, err := io.ReadAll(io.LimitReader(reader, maxPayload+1))
	switch {
	case err != nil:
		return "", errUnsupportedMediaType
	case len(decompressed) > maxPayload:
		return "", errPayloadTooLarge
	}
	return string(decompressed), nil
}
