package eventlog

import (
	"hash/fnv"
	"io"
	"strconv"
	"sync"
	"time"
)

// An id is a time in units of 10 µs since 1970, times Shards, plus the shard of the event. It is positive and below
// 2^53 until the year 2326, so JavaScript reads it exactly.
const (
	// Shards is the number of partitions of the table, each of which takes 1,000 writes per second.
	Shards = 8
	// unitsPerMillisecond is the number of ids per shard and millisecond.
	unitsPerMillisecond = 100
)

// shardOf returns the partition of a subject's events.
func shardOf(s Subject) int64 {
	h := fnv.New32a()
	_, _ = io.WriteString(h, string(s)) // never fails
	return int64(h.Sum32() % Shards)
}

// Partition returns the partition key of the shard to which an id belongs.
func Partition(id int64) string { return strconv.FormatInt(id%Shards, 10) }

// FirstID returns an id that no event before t has, and that is lower than the ids of all events from t on.
func FirstID(t time.Time) int64 { return t.UnixMilli() * unitsPerMillisecond * Shards }

// TimeOf returns the time of an id, in UTC, in milliseconds.
func TimeOf(id int64) time.Time { return time.UnixMilli(id / (unitsPerMillisecond * Shards)).UTC() }

// sequence issues the ids of one process. Two processes may issue the same id; the write of the second event then
// fails. It is safe for concurrent use.
type sequence struct {
	mu    sync.Mutex
	last  int64 // in units
	ahead int64 // the last one that was issued far ahead of the clock, in units
}

// far is the distance from the clock from which an id is far ahead, in units: 10 ms. A transaction has fewer events.
const far = 10 * unitsPerMillisecond

// next returns an id of a shard that is higher than after, and different from those that were issued before. It is for
// the time now, unless after is later. If after is far ahead of now, because the clock of another process is fast, it
// does not advance later ids.
func (s *sequence) next(now time.Time, shard, after int64) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last = max(now.UnixMicro()/(1000/unitsPerMillisecond), s.last+1)
	if unit := after/Shards + 1; unit >= s.last+far {
		s.ahead = max(unit, s.ahead+1)
		return s.ahead*Shards + shard
	} else if unit > s.last {
		s.last = unit
	}
	return s.last*Shards + shard
}
