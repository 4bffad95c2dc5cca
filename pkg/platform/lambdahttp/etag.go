package lambdahttp

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"toggleadmin/pkg/platform/apierror"
)

// etagBytes is the number of bytes of the SHA-256 in an entity tag.
const etagBytes = 16

// ETag returns the entity tag of a representation: a quoted, truncated SHA-256 of the JSON of v. v contains what a PUT
// can overwrite.
func ETag(v any) string {
	text, err := EncodeJSON(v)
	if err != nil { // v consists of texts, numbers, booleans and lists
		panic(err)
	}
	sum := sha256.Sum256(text)
	return fmt.Sprintf("%q", base64.RawURLEncoding.EncodeToString(sum[:etagBytes]))
}

// Precondition returns a function that compares the current entity tag of a resource with the If-Match of a request,
// strongly (RFC 9110, section 13.1.1). It returns a 412 if they do not match. Without If-Match, every tag matches.
func Precondition(r *http.Request) func(etag string) error {
	sent := r.Header.Values("If-Match")
	tags := strings.Split(strings.Join(sent, ","), ",") // the tags of this API contain no comma
	for i := range tags {
		tags[i] = strings.TrimSpace(tags[i])
	}
	return func(etag string) error {
		if len(sent) == 0 || slices.Contains(tags, etag) || slices.Contains(tags, "*") {
			return nil
		}
		return apierror.New(apierror.PreconditionFailed,
			"The resource has changed since you read it. Read it again and repeat the change.")
	}
}
