package subscription

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"sync"
	"time"
)

// maxSegment is the size above which lines go to a new file.
const maxSegment = 16 << 20

// spool is the lines, in files that are written one after the other. A line is its time in milliseconds, a space, the message and a line
// feed. It is safe for concurrent use.
type spool struct {
	dir string // empty: files without a name, which go with the process

	mu       sync.Mutex
	segments []*segment // oldest first; the last one is written
	buffer   []byte
	wake     chan struct{} // holds one where lines have come
}

// segment is one file.
type segment struct {
	name string // 20 digits, unique
	file *os.File
	size int64
}

// openSpool opens the files there are, and begins a new one: the last line of an old one may be half.
func openSpool(dir string, now time.Time) (*spool, error) {
	s := &spool{dir: dir, wake: make(chan struct{}, 1)}
	if dir != "" {
		if err := s.openOld(); err != nil {
			return nil, errors.Join(err, s.close())
		}
	}
	if err := s.begin(now); err != nil {
		return nil, errors.Join(err, s.close())
	}
	if len(s.segments) > 1 {
		s.wake <- struct{}{}
	}
	return s, nil
}

func (s *spool) openOld() error {
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return fmt.Errorf("make the access log's folder: %w", err)
	}
	entries, err := os.ReadDir(s.dir) // sorted
	if err != nil {
		return fmt.Errorf("read the access log's folder: %w", err)
	}
	ours := regexp.MustCompile(`^([0-9]{20})\.log$`)
	for _, entry := range entries {
		match := ours.FindStringSubmatch(entry.Name())
		if match == nil {
			continue
		}
		f, err := os.Open(filepath.Join(s.dir, entry.Name()))
		if err != nil {
			return fmt.Errorf("open the access log: %w", err)
		}
		info, err := f.Stat()
		if err != nil {
			return errors.Join(fmt.Errorf("open the access log: %w", err), f.Close())
		}
		s.segments = append(s.segments, &segment{match[1], f, info.Size()})
	}
	return nil
}

// begin makes the next file.
func (s *spool) begin(now time.Time) error {
	number := now.UnixNano()
	if n := len(s.segments); n > 0 {
		last, err := strconv.ParseInt(s.segments[n-1].name, 10, 64)
		if err != nil {
			return fmt.Errorf("begin a file of the access log: %w", err)
		}
		number = max(number, last+1) // the clock may have been put back
	}
	name := fmt.Sprintf("%020d", number)
	var f *os.File
	var err error
	if s.dir == "" {
		if f, err = os.CreateTemp("", "access-log-"); err == nil {
			err = os.Remove(f.Name())
		}
	} else {
		f, err = os.OpenFile(filepath.Join(s.dir, name+".log"), os.O_RDWR|os.O_CREATE|os.O_EXCL|os.O_APPEND, 0o600)
	}
	if err != nil {
		return fmt.Errorf("begin a file of the access log: %w", err)
	}
	s.segments = append(s.segments, &segment{name: name, file: f})
	return nil
}

// append writes a line. It has one Write, so that whoever is killed has written it or not.
func (s *spool) append(line []byte, at time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	current := s.segments[len(s.segments)-1]
	if current.size > maxSegment {
		if err := s.begin(at); err != nil {
			return err
		}
		current = s.segments[len(s.segments)-1]
	}
	b := append(strconv.AppendInt(s.buffer[:0], at.UnixMilli(), 10), ' ')
	b = append(b, line...)
	for i, c := range b {
		if c == '\n' {
			b[i] = ' '
		}
	}
	b = append(b, '\n')
	s.buffer = b
	n, err := current.file.Write(b)
	if err != nil {
		if n > 0 { // half a line: what follows would be part of it
			err = errors.Join(err, s.begin(at))
		}
		return fmt.Errorf("write the access log: %w", err)
	}
	current.size += int64(n)
	select {
	case s.wake <- struct{}{}:
	default:
	}
	return nil
}

// place is a position in the spool.
type place struct {
	Segment string `json:"segment"`
	Offset  int64  `json:"offset"`
}

// in is where the place is in a file of that name and size: at its end where the file comes before it, or is shorter than it was when the
// place was noted, as after a power cut.
func (p place) in(segment string, size int64) int64 {
	switch {
	case segment < p.Segment:
		return size
	case segment == p.Segment:
		return min(max(p.Offset, 0), size)
	}
	return 0
}

// span is some lines of one file.
type span struct {
	Segment string `json:"segment"`
	From    int64  `json:"from"`
	To      int64  `json:"to"`
	Tries   int    `json:"tries,omitempty"` // that have failed
}

// next gives the lines from a place on, at most as many and as long as a batch has, and the place behind them. Without lines false.
func (s *spool) next(from place) (span, bool) {
	s.mu.Lock()
	segments := slices.Clone(s.segments)
	sizes := make([]int64, len(segments))
	for i, segment := range segments {
		sizes[i] = segment.size
	}
	s.mu.Unlock()
	for i, segment := range segments {
		offset := from.in(segment.name, sizes[i])
		b := make([]byte, min(sizes[i]-offset, maxBatchBytes))
		n, _ := segment.file.ReadAt(b, offset) // what cannot be read is not there
		if length := lines(b[:n]); length > 0 {
			return span{Segment: segment.name, From: offset, To: offset + int64(length)}, true
		}
	}
	return span{}, false
}

// lines is the length of the whole lines at the beginning of b, as many as a batch has.
func lines(b []byte) int {
	length := 0
	for range maxBatchLines {
		n := bytes.IndexByte(b[length:], '\n')
		if n < 0 {
			break
		}
		length += n + 1
	}
	return length
}

// size is how many bytes there are from a place on.
func (s *spool) size(from place) (n int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, segment := range s.segments {
		n += segment.size - from.in(segment.name, segment.size)
	}
	return n
}

// read gives the lines of a span.
func (s *spool) read(of span) ([]byte, error) {
	s.mu.Lock()
	i := slices.IndexFunc(s.segments, func(other *segment) bool { return other.name == of.Segment })
	var from *segment
	if i >= 0 {
		from = s.segments[i]
	}
	s.mu.Unlock()
	if from == nil || of.From < 0 || of.To < of.From || of.To > from.size {
		return nil, fmt.Errorf("read the access log %s: %w", of.Segment, fs.ErrNotExist)
	}
	b := make([]byte, of.To-of.From)
	if _, err := from.file.ReadAt(b, of.From); err != nil {
		return nil, fmt.Errorf("read the access log: %w", err)
	}
	return b, nil
}

// drop deletes the files before one, but for those that are kept.
func (s *spool) drop(before string, kept func(name string) bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var failed error
	s.segments = slices.DeleteFunc(s.segments, func(old *segment) bool {
		if old.name >= before || kept(old.name) || old == s.segments[len(s.segments)-1] {
			return false
		}
		failed = errors.Join(failed, old.file.Close())
		if s.dir != "" {
			failed = errors.Join(failed, os.Remove(filepath.Join(s.dir, old.name+".log")))
		}
		return true
	})
	return failed
}

func (s *spool) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var failed error
	for _, segment := range s.segments {
		failed = errors.Join(failed, segment.file.Close())
	}
	return failed
}
