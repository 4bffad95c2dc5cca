package counting

import (
	"encoding/hex"
	"io"
	"time"

	"toggleadmin/pkg/delivery/usage"
	"toggleadmin/pkg/delivery/usagetable"
)

// part is an item that only this process writes. Its content is the one of its kind.
type part struct {
	usagetable.Part
	tally    usage.Tally
	presence usage.Presence
	requests usage.Requests
	size     int       // estimated, in bytes
	changed  bool      // since the last write
	dueAt    time.Time // when it must be written, if it has changed
	unsaved  int       // changes since the last write that succeeded
	usedAt   time.Time // of the last change
}

func (p *part) isPresence() bool {
	return p.Kind == usagetable.KindPresence || p.Kind == usagetable.KindFrontendPresence
}

func (p *part) isTally() bool {
	return p.Kind == usagetable.KindTally || p.Kind == usagetable.KindFrontendTally
}

func (p *part) isFrontend() bool {
	return p.Kind == usagetable.KindFrontendTally || p.Kind == usagetable.KindFrontendPresence
}

func (p *part) content() any {
	switch {
	case p.isTally():
		return p.tally
	case p.isPresence():
		return p.presence
	default:
		return p.requests
	}
}

// isDue reports whether the part must be written.
func (p *part) isDue(now time.Time) bool { return p.changed && !now.Before(p.dueAt) }

// bookKey identifies a book.
type bookKey struct {
	kind        usagetable.Kind
	hour        time.Time
	environment string // empty for requests
}

// book is the parts of a kind, hour and environment. An entry stays in the part in which it began, so that what a
// process writes is not larger than what it counts.
type book []*part

// with returns the part that has an application of a toggle.
func (b book) with(feature, application string) *part {
	for _, p := range b {
		if _, ok := p.tally.Features[feature][application]; ok {
			return p
		}
	}
	return nil
}

// withUnknown returns the part that has an application of a name without a toggle.
func (b book) withUnknown(name, application string) *part {
	for _, p := range b {
		if _, ok := p.tally.Unknown[name][application]; ok {
			return p
		}
	}
	return nil
}

// partFor returns a part of a book that can become larger by a size. It returns nil if the process keeps too much.
func (r *Recorder) partFor(key bookKey, size int) *part {
	b := r.books[key]
	if len(b) > 0 {
		if p := b[len(b)-1]; p.size+size <= maxPartSize && r.hasRoom(p.isFrontend(), size) {
			return p
		}
	}
	id := make([]byte, partIDBytes)
	if _, err := io.ReadFull(r.random, id); err != nil {
		return nil
	}
	p := &part{Part: usagetable.Part{
		Kind: key.kind, Hour: key.hour, Environment: key.environment, ID: hex.EncodeToString(id),
	}}
	if !r.hasRoom(p.isFrontend(), partSize+size) {
		return nil
	}
	switch {
	case p.isTally():
		p.tally = usage.NewTally()
	case p.isPresence():
		p.presence = usage.Presence{}
	default:
		p.requests = usage.Requests{}
	}
	r.grow(p, partSize)
	r.books[key] = append(b, p)
	return p
}

// onePart returns the only part of a kind, hour and environment, or nil if the process keeps too much.
func (r *Recorder) onePart(key bookKey) *part {
	if b := r.books[key]; len(b) > 0 {
		return b[0]
	}
	return r.partFor(key, 0)
}

// hasRoom reports whether what the process keeps can become larger by a size.
func (r *Recorder) hasRoom(isFrontend bool, size int) bool {
	return r.size+size <= maxSize && (!isFrontend || r.frontendSize+size <= maxFrontendSize)
}

// grow makes a part larger.
func (r *Recorder) grow(p *part, size int) {
	p.size += size
	r.size += size
	if p.isFrontend() {
		r.frontendSize += size
	}
}

// change notes a change of a part, which must be written at a time.
func (r *Recorder) change(p *part, dueAt, now time.Time) {
	if !p.changed || dueAt.Before(p.dueAt) {
		p.dueAt = dueAt
	}
	p.changed, p.usedAt = true, now
	p.unsaved++
}
