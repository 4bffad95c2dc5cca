package traffic

import (
	"cmp"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Shards is the number of items that store the requests of one path and day. Concurrent transactions on the same item
// conflict, so batches of different log streams are spread over several items.
const Shards = 8

// Shard returns the shard that counts the requests of a log stream: FNV-1a 32 of its name modulo Shards.
func Shard(logStream string) int {
	h := fnv.New32a()
	_, _ = io.WriteString(h, logStream) // never fails
	return int(h.Sum32() % Shards)
}

// Batch is the content of one delivery of the access log.
type Batch struct {
	ID    string  // the same for the same events of the same log stream, in any order
	Shard int     // of the log stream
	Usage []Usage // requests of counted paths, ordered by path, then day

	Events    int // distinct log events
	Uncounted int // events that are requests of other paths
	Malformed int // events that are not lines of the access log
	Repeated  int // repeated events, which are ignored
}

// delivery is the data of a CloudWatch Logs subscription event, without the properties that are not needed.
type delivery struct {
	MessageType string     `json:"messageType"`
	LogStream   string     `json:"logStream"`
	LogEvents   []logEvent `json:"logEvents"`
}

type logEvent struct {
	ID      string `json:"id"` // the same in every delivery of the event
	Message string `json:"message"`
}

// maxUnpacked limits the size of an unpacked delivery. A delivery of 6 MB, the largest that Lambda accepts, unpacks to
// about 60 MB.
const maxUnpacked = 64 << 20

var errMessageType = errors.New("its messageType is unknown")

// Decode reads the data of a CloudWatch Logs subscription event: base64 of gzip of JSON. Events that are not lines of
// the access log are counted as malformed. An error means that the delivery is not complete or not from CloudWatch
// Logs; nothing of it must be counted. A control message, which checks whether the function is reachable, is an empty
// batch.
func Decode(data string, paths Paths) (*Batch, error) {
	unpacked, err := gzip.NewReader(base64.NewDecoder(base64.StdEncoding, strings.NewReader(data)))
	if err != nil {
		return nil, fmt.Errorf("unpack the delivery: %w", err)
	}
	var d delivery
	err = json.UnmarshalRead(io.LimitReader(unpacked, maxUnpacked), &d, jsontext.AllowInvalidUTF8(true))
	if err != nil {
		return nil, fmt.Errorf("decode the delivery: %w", err)
	}
	switch d.MessageType {
	case "DATA_MESSAGE":
		return newBatch(&d, paths), nil
	case "CONTROL_MESSAGE":
		return &Batch{}, nil
	}
	return nil, fmt.Errorf("decode the delivery: %w", errMessageType)
}

func newBatch(d *delivery, paths Paths) *Batch {
	slices.SortStableFunc(d.LogEvents, func(a, b logEvent) int { return cmp.Compare(a.ID, b.ID) })
	distinct := slices.CompactFunc(d.LogEvents, func(a, b logEvent) bool { return a.ID == b.ID })
	b := &Batch{Shard: Shard(d.LogStream), Events: len(distinct), Repeated: len(d.LogEvents) - len(distinct)}
	id := sha256.New()
	_, _ = io.WriteString(id, d.LogStream+"\n") // never fails
	sums := tally{}
	for i := range distinct {
		event := &distinct[i]
		_, _ = io.WriteString(id, event.ID+"\n")
		at, counts, err := parseLine(event.Message)
		if err != nil || event.ID == "" {
			b.Malformed++
		} else if paths[at.path] {
			sums.add(at, counts)
		} else {
			b.Uncounted++
		}
	}
	b.ID, b.Usage = base64.RawURLEncoding.EncodeToString(id.Sum(nil)), sums.usage()
	return b
}
