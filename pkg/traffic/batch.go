package traffic

import (
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"hash"
	"hash/fnv"
	"io"
	"slices"
	"time"
)

// Shards is the number of items that the requests of one path and day are spread over. A transaction writes each of its items at most a
// few hundred times a second; batches of different log streams meet less often the more items there are.
const Shards = 8

// Shard is where a log stream's requests are counted: FNV-1a 32 of its name modulo Shards.
func Shard(logStream string) int {
	h := fnv.New32a()
	_, _ = h.Write([]byte(logStream)) // a hash takes everything
	return int(h.Sum32() % Shards)
}

// Group is a group of statuses.
type Group uint8

// The groups of a report.
const (
	Successful  Group = iota // 2xx and 3xx
	ClientError              // 4xx
	ServerError              // 5xx
)

// Request is one request that is counted.
type Request struct {
	Event   string // id of the log event, which it keeps in every delivery
	APIPath string
	Day     time.Time // midnight UTC of the time of the request
	Group   Group
}

// Batch is what one delivery of the access log says.
type Batch struct {
	ID       string    // the same for the same events of the same log stream, in whatever order
	Shard    int       // of the log stream
	Requests []Request // those that are counted, each event once, ordered by event

	Events    int // log events, each once
	Uncounted int // of them, requests of paths that are not counted
	Malformed int // of them, no lines of the access log
	Repeated  int // events beyond their first place in the batch
}

// Tally adds requests up, ordered by path, then day.
func Tally(requests []Request) []Usage {
	type place struct {
		path string
		day  time.Time
	}
	sums := map[place]*Counts{}
	var usage []Usage
	for i := range requests {
		r := &requests[i]
		at := place{r.APIPath, r.Day}
		sum := sums[at]
		if sum == nil {
			sum = &Counts{}
			sums[at] = sum
			usage = append(usage, Usage{APIPath: r.APIPath, Day: r.Day})
		}
		switch r.Group {
		case Successful:
			sum.Successful++
		case ClientError:
			sum.ClientErrors++
		case ServerError:
			sum.ServerErrors++
		}
	}
	for i := range usage {
		usage[i].Counts = *sums[place{usage[i].APIPath, usage[i].Day}]
	}
	slices.SortFunc(usage, byPathAndDay)
	return usage
}

func byPathAndDay(a, b Usage) int {
	return cmp.Or(cmp.Compare(a.APIPath, b.APIPath), a.Day.Compare(b.Day))
}

// total is the number of requests in the counts.
func (c Counts) total() int { return int(c.Successful + c.ClientErrors + c.ServerErrors) }

// digest makes a text of 43 characters of a list of texts, none of which has a line break.
type digest struct{ hash.Hash }

func newDigest(texts ...string) digest {
	d := digest{sha256.New()}
	for _, text := range texts {
		d.add(text)
	}
	return d
}

func (d digest) add(text string) {
	_, _ = io.WriteString(d, text) // a hash takes everything
	_, _ = d.Write([]byte{'\n'})
}

func (d digest) text() string { return base64.RawURLEncoding.EncodeToString(d.Sum(nil)) }
