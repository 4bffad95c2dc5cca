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
	"toggleadmin/pkg/platform/jsonbody"
	"toggleadmin/pkg/toggle"
)

// Snapshot is a published state of an environment.
type Snapshot struct {
	Environment string
	Epoch       string // changes when the history of versions ends, as after a restore
	Version     int64  // 1 and higher within an epoch
	Versions    Versions
	Body        []byte // the response to a token of all projects that knows segments, compressed with gzip
}

// New returns the snapshot of a document.
func New(environment, epoch string, version int64, versions Versions, d Document) (Snapshot, error) {
	s := Snapshot{Environment: environment, Epoch: epoch, Version: version, Versions: versions}
	all := NewSelection(Query{Environment: environment})
	text, err := jsonbody.Encode(all.Response(d, epoch, versions))
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
	text, err := jsonbody.Encode(v)
	if err != nil {
		panic(fmt.Sprintf("encode %T: %v", v, err)) // a defect of the program: all values can be encoded
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
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
