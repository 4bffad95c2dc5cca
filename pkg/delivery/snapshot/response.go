package snapshot

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"

	"toggleadmin/pkg/evaluation"
	"toggleadmin/pkg/toggle"
)

// Query is what a response contains, as the response repeats it.
type Query struct {
	Projects                 []string `json:"project,omitempty"`    // empty: all
	NamePrefix               string   `json:"namePrefix,omitempty"` // of the toggles
	Environment              string   `json:"environment"`
	InlineSegmentConstraints bool     `json:"inlineSegmentConstraints"`
}

// hashLength is the number of hexadecimal digits of the hash of a query.
const hashLength = 8

// Digest returns the SHA-256 of the query in hexadecimal digits. Different queries have different digests.
func (q Query) Digest() string { return hash(q) }

// Hash returns the first eight hexadecimal digits of Digest, for the tags of a client. Who chooses a query can find one
// with the hash of another one.
func (q Query) Hash() string { return q.Digest()[:hashLength] }

// Response is the response to GET /api/client/features.
type Response struct {
	Version  int                  `json:"version"`
	Features []evaluation.Feature `json:"features"`
	Query    Query                `json:"query"`
	Segments *[]toggle.Segment    `json:"segments,omitempty"` // nil: they are inlined
	Meta     Meta                 `json:"meta"`
}

// Meta describes a response. SDKs do not read it.
type Meta struct {
	RevisionID int64  `json:"revisionId"`
	ETag       string `json:"etag"`
	QueryHash  string `json:"queryHash"`
}

// responseVersion is the version of the form of responses.
const responseVersion = 2

// NewResponse returns the response with what the query selects from a document.
func NewResponse(d Document, q Query, epoch string, versions Versions) Response {
	tag := TagOf(q, epoch, versions)
	response := Response{
		Version:  responseVersion,
		Query:    q,
		Meta:     Meta{RevisionID: tag.Version, ETag: fmt.Sprintf("%q", tag), QueryHash: tag.Query},
		Features: d.Features,
	}
	if q.InlineSegmentConstraints {
		response.Features = d.Inline().Features
	} else {
		response.Segments = &d.Segments
	}
	return response
}

// TagOf returns the tag of the uncompressed response to a query.
func TagOf(q Query, epoch string, versions Versions) Tag {
	version := versions.Of(q.Projects)
	tag := Tag{Query: q.Hash(), Epoch: epoch, Version: version.Apart}
	if q.InlineSegmentConstraints {
		tag.Version = version.Inlined
	}
	return tag
}

// Snapshot is a published state of an environment.
type Snapshot struct {
	Environment string
	Epoch       string // changes when the history of versions ends, as after a restore
	Version     int64  // 1 and higher within an epoch
	Versions    Versions
	Body        []byte // the response to a token of all projects that knows segments, compressed with gzip
}

// Query returns the query to which the body of the snapshot is the response.
func (s Snapshot) Query() Query { return Query{Environment: s.Environment} }

// New returns the snapshot of a document.
func New(environment, epoch string, version int64, versions Versions, d Document) (Snapshot, error) {
	s := Snapshot{Environment: environment, Epoch: epoch, Version: version, Versions: versions}
	text, err := Encode(NewResponse(d, s.Query(), epoch, versions))
	if err != nil {
		return Snapshot{}, err
	}
	s.Body, err = Compress(text)
	return s, err
}

// Document returns the document of the snapshot. A snapshot without a body has an empty one. An error means that the
// body was not written by the service.
func (s Snapshot) Document() (Document, error) {
	d := Document{Features: []evaluation.Feature{}, Segments: []toggle.Segment{}}
	if s.Body == nil {
		return d, nil
	}
	text, err := Decompress(s.Body)
	if err == nil {
		err = json.Unmarshal(text, &d)
	}
	if err != nil {
		return Document{}, fmt.Errorf("read the snapshot %d of the environment %q: %w", s.Version, s.Environment, err)
	}
	return d, nil
}

// Hash returns the SHA-256 of the document in hexadecimal digits.
func (d Document) Hash() string { return hash(d) }

func hash(v any) string {
	text, err := Encode(v)
	if err != nil {
		panic(fmt.Sprintf("encode %T: %v", v, err)) // a defect of the program: all values can be encoded
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// Encode returns the JSON form of a value. It leaves <, > and & as they are.
func Encode(v any) ([]byte, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(v)
	return bytes.TrimSuffix(text.Bytes(), []byte("\n")), err
}

// Compress returns the text in gzip's form. The same text has the same form.
func Compress(text []byte) ([]byte, error) {
	var compressed bytes.Buffer
	w := gzip.NewWriter(&compressed)
	if _, err := w.Write(text); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return compressed.Bytes(), nil
}

// Decompress returns the text in a body of a snapshot.
func Decompress(compressed []byte) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(compressed))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}
