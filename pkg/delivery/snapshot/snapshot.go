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
	// Tags is the JSON of the tags of toggles, by their names, compressed with gzip. It is nil if an earlier version of
	// the service has published the snapshot, without tags.
	Tags []byte
}

// New returns the snapshot of a document.
func New(environment, epoch string, version int64, versions Versions, d Document) (Snapshot, error) {
	s := Snapshot{Environment: environment, Epoch: epoch, Version: version, Versions: versions}
	all := NewSelection(Query{Environment: environment})
	text, err := jsonbody.Encode(all.Response(d, epoch, versions))
	if err != nil {
		return Snapshot{}, err
	}
	if s.Body, err = Compress(text); err != nil {
		return Snapshot{}, err
	}
	if text, err = jsonbody.Encode(d.tags()); err != nil {
		return Snapshot{}, err
	}
	s.Tags, err = Compress(text)
	return s, err
}

// tags returns the tags of the toggles that have any, by name.
func (d Document) tags() map[string][]toggle.Tag {
	tags := map[string][]toggle.Tag{}
	for _, f := range d.Features {
		if len(f.Tags) > 0 {
			tags[f.Name] = f.Tags
		}
	}
	return tags
}

// Document returns the document of the snapshot. A snapshot without a body has an empty one. An error means that the
// body was not written by the service.
func (s Snapshot) Document() (Document, error) {
	d := Document{Features: []evaluation.Feature{}, Segments: []toggle.Segment{}}
	if s.Body == nil {
		return d, nil
	}
	var tags map[string][]toggle.Tag
	err := decode(s.Body, &d)
	if err == nil && s.Tags != nil {
		err = decode(s.Tags, &tags)
	}
	if err != nil {
		return Document{}, fmt.Errorf("read the snapshot %d of the environment %q: %w", s.Version, s.Environment, err)
	}
	for i, f := range d.Features {
		d.Features[i].Tags = tags[f.Name]
	}
	return d, nil
}

// decode reads compressed JSON.
func decode(compressed []byte, v any) error {
	text, err := Decompress(compressed)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, v)
}

// Hash returns the SHA-256 of the document, and of the tags of its toggles, in hexadecimal digits.
func (d Document) Hash() string {
	return hash(struct {
		Document
		Tags map[string][]toggle.Tag `json:"tags"`
	}{d, d.tags()})
}

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
