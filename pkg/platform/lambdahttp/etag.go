package lambdahttp

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/jsonbody"
)

// etagBytes is the number of bytes of the SHA-256 in an entity tag.
const etagBytes = 16

// NoETag stands for the entity tag of a resource that has none.
const NoETag = ""

// ETag returns the entity tag of a representation: a quoted, truncated SHA-256 of the JSON of v. v contains what a PUT
// can overwrite.
func ETag(v any) string {
	text, err := jsonbody.Encode(v)
	if err != nil { // v consists of texts, numbers, booleans and lists
		panic(err)
	}
	return ETagOf(text)
}

// ETagOf returns the entity tag of a text: its SHA-256, truncated and quoted.
func ETagOf(text []byte) string {
	sum := sha256.Sum256(text)
	return fmt.Sprintf("%q", base64.RawURLEncoding.EncodeToString(sum[:etagBytes]))
}

// Preconditions are the headers If-Match and If-None-Match of a request that changes a resource (RFC 9110, sections
// 13.1.1 and 13.1.2).
type Preconditions struct {
	match, noneMatch []string // the entity tags in the headers; nil: the header was not sent
}

// PreconditionsOf returns the preconditions of a request, or the 400 for headers that do not have the form of RFC 9110.
func PreconditionsOf(r *http.Request) (Preconditions, error) {
	match, invalid := etagsOf(r.Header, "If-Match")
	noneMatch, alsoInvalid := etagsOf(r.Header, "If-None-Match")
	return Preconditions{match, noneMatch}, apierror.InvalidIfAny(append(invalid, alsoInvalid...))
}

// ETags returns the entity tags in a header of a request. A value that has another form has none.
func ETags(header http.Header, name string) []string {
	tags, _ := etagsOf(header, name)
	return tags
}

// etagsOf returns the entity tags in a header, and what is wrong with it.
func etagsOf(header http.Header, name string) (tags []string, invalid []apierror.Detail) {
	for _, value := range header.Values(name) {
		found := etags(value)
		if found == nil {
			invalid = append(invalid, apierror.At("/headers/"+name,
				"must be `*`, or entity tags in double quotes that commas separate").Sent(value))
		}
		tags = append(tags, found...)
	}
	return tags, invalid
}

// entityTag is an entity tag at the start of a list.
var entityTag = regexp.MustCompile(`^(?:W/)?("[^"\x00-\x20\x7f]*")[ \t]*(?:,[ \t]*|$)`)

// etags returns the entity tags in the value of a header, or nil if it has another form. Weak tags become strong: proxies
// that compress responses make tags weak, but the tags of this API identify the content, not its bytes.
func etags(value string) (tags []string) {
	value = strings.TrimSpace(value)
	if value == "*" {
		return []string{value}
	}
	for value != "" {
		found := entityTag.FindStringSubmatch(value)
		if found == nil {
			return nil
		}
		tags = append(tags, found[1])
		value = value[len(found[0]):]
	}
	return tags
}

// Check returns a 412 unless the preconditions allow to change a resource that exists and has the entity tag.
func (p Preconditions) Check(etag string) error {
	matches := func(tags []string) bool {
		return slices.Contains(tags, "*") || etag != NoETag && slices.Contains(tags, etag)
	}
	switch {
	case p.match != nil && etag == NoETag && !matches(p.match):
		return apierror.New(apierror.PreconditionFailed,
			"The resource has no entity tag, so only `*` matches it in `If-Match`.")
	case p.match != nil && !matches(p.match):
		return apierror.New(apierror.PreconditionFailed,
			"The resource has changed since you read it. Read it again and repeat the change.")
	case matches(p.noneMatch):
		return apierror.New(apierror.PreconditionFailed,
			"The resource exists and matches `If-None-Match`.")
	}
	return nil
}

// Creates reports whether the request only creates the resource of its path, and changes none: `If-None-Match: *`.
func (p Preconditions) Creates() bool { return slices.Contains(p.noneMatch, "*") }

// CheckUntagged returns a 400 if a precondition of a request is malformed, or a 412 if they do not permit to change a
// resource that exists and has no entity tag.
func CheckUntagged(r *http.Request) error {
	preconditions, err := PreconditionsOf(r)
	if err != nil {
		return err
	}
	return preconditions.Check(NoETag)
}

// CheckMissing returns a 412 unless the preconditions allow to create a resource that does not exist.
func (p Preconditions) CheckMissing() error {
	if p.match == nil {
		return nil
	}
	return apierror.New(apierror.PreconditionFailed, "The resource does not exist, so it cannot match `If-Match`.")
}
