package snapshot

import (
	"fmt"
	"strconv"
	"strings"
)

// Tag is the entity tag of a response of the client API. It identifies what a token sees: the epoch of the snapshot and
// the version of the token's projects. Its text resembles that of Unleash: "537b2ba0:1f6e02c9.43:v1".
type Tag struct {
	Query   string // the hash of the query: of the environment, the projects, and the form of segments
	Epoch   string
	Version int64
	Gzip    bool // whether the response is compressed: other bytes have another tag
}

const (
	identitySuffix = "v1"
	gzipSuffix     = "v1-gzip"
)

// String returns the text of the tag, without quotation marks.
func (t Tag) String() string {
	suffix := identitySuffix
	if t.Gzip {
		suffix = gzipSuffix
	}
	return fmt.Sprintf("%s:%s.%d:%s", t.Query, t.Epoch, t.Version, suffix)
}

// ParseTag reads the text of a tag. It returns false for another text, such as the tag of another service.
func ParseTag(text string) (Tag, bool) {
	query, rest, _ := strings.Cut(text, ":")
	version, suffix, _ := strings.Cut(rest, ":")
	epoch, number, found := strings.Cut(version, ".")
	n, err := strconv.ParseInt(number, 10, 64)
	tag := Tag{Query: query, Epoch: epoch, Version: n, Gzip: suffix == gzipSuffix}
	return tag, found && err == nil && tag.String() == text
}
