package feature

import "time"

// Range is the toggles of one type and shard whose flag is now the same and must change: a key range of the staleness index.
type Range struct {
	Type             string
	Shard            int  // 0 to Shards-1
	PotentiallyStale bool // the flag that they have now
	// Cutoff is the moment that divides them: of the fresh ones those created at or before it, of the potentially stale ones those created
	// after it. nil: all of them.
	Cutoff *time.Time
}

// Indexed is a toggle as the staleness index knows it, which may be behind.
type Indexed struct {
	Name      string
	CreatedAt string // as it is stored
}

// Page is a part of a range.
type Page struct {
	Toggles []Indexed
	Next    *Indexed // where the next page begins; nil: there is none
}
