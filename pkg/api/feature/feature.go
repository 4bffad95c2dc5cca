// Package feature stores toggles and serves their operations. It is the only writer of the table Features.
//
// Every write of a toggle also updates, in the same transaction, what toggles are looked up by: the toggle's key in the
// staleness index, and the usage of the context fields that its constraints use. A write that can change whether the
// toggle is potentially stale decides it at once. pkg/background/staleness finds and flips flags with Store.Due and
// Store.Flip.
package feature

import (
	"fmt"
	"hash/fnv"
	"io"
	"reflect"
	"regexp"
	"slices"
	"time"

	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/datetime"
)

// Feature is a toggle.
type Feature struct {
	Name             string
	Project          string
	Type             string  // id of its feature type
	Description      *string // nil: none
	ImpressionData   bool
	CreatedAt        time.Time
	CreatedBy        *Creator // nil: unknown
	Archived         bool
	ArchivedAt       *time.Time // nil if it is not archived
	Stale            bool       // marked by a person
	PotentiallyStale bool       // set by the stores
	ContextFields    []string   // used by the constraints of its strategies; sorted, without duplicates
	LastEvent        int64      // the id of its last event, the version of the toggle; set by the stores
}

// Creator is who created a toggle.
type Creator struct {
	ID   int64 // of the user; 0: the toggle was created in another system
	Name string
}

// MaxContextFields is the maximum number of context fields of a toggle. A transaction has at most 100 actions: one for
// each field before and after it, and six for the toggle, its type and its events.
const MaxContextFields = 47

// notFound returns the error if there is no toggle with the name in the project, or in any project if it is empty.
func notFound(project, name string) error {
	if project == "" {
		return apierror.Errorf(apierror.NotFound, "There is no toggle with the name %q.", apierror.Echo(name))
	}
	return apierror.Errorf(apierror.NotFound, "There is no toggle with the name %q in the project %q.",
		apierror.Echo(name), project)
}

// segment matches a segment of a path that clients send as it is. They remove the segments . and .., even if these are
// percent-encoded (RFC 3986, section 5.2.4).
var segment = regexp.MustCompile(`^(\.*[A-Za-z0-9_~-][A-Za-z0-9._~-]*|\.{3,})$`)

// reservedName cannot be the name of a toggle, because /api/admin/archive/revive is the path of another operation.
const reservedName = "revive"

// ValidName reports whether a toggle can have a name.
func ValidName(name string) bool {
	return ValidProject(name) && name != reservedName
}

// ValidProject reports whether a project can have a name.
func ValidProject(name string) bool { return len(name) <= 100 && segment.MatchString(name) }

// Shards is the number of partitions per type and flag in the staleness index.
const Shards = 16

// Shard returns the partition of a toggle: FNV-1a 32 of its name modulo Shards.
func Shard(name string) int {
	h := fnv.New32a()
	_, _ = io.WriteString(h, name) // never fails
	return int(h.Sum32() % Shards)
}

// StalenessKey returns the partition key, in the staleness index, of a type's toggles in a shard.
func StalenessKey(featureType string, potentiallyStale bool, shard int) string {
	flag := "fresh"
	if potentiallyStale {
		flag = "potentially-stale"
	}
	return fmt.Sprintf("%s#%s#%d", featureType, flag, shard)
}

// Range is a key range of the staleness index: the toggles of one type and shard that have the same flag and whose flag
// must change.
type Range struct {
	Type             string
	Shard            int  // 0 to Shards-1
	PotentiallyStale bool // the current flag
	// Cutoff is the latest time of creation of the toggles that have outlived their lifetime; nil: there are none. A range
	// of toggles without the flag contains these toggles. A range of toggles with the flag contains the others.
	Cutoff *time.Time
	// LifetimeDays is the lifetime of the type, and LastEvent the id of the event that changed it, for events.
	LifetimeDays *int64
	LastEvent    int64
}

// Contains reports whether a toggle of the type, shard and flag is in the range.
func (r Range) Contains(f Feature) bool { return f.outlived(r.Cutoff) != r.PotentiallyStale }

// outlived reports whether the toggle has outlived its lifetime: it was created at the cutoff or before.
func (f Feature) outlived(cutoff *time.Time) bool {
	return cutoff != nil && !f.CreatedAt.After(*cutoff)
}

// key returns the partition key of the range in the staleness index.
func (r Range) key() string { return StalenessKey(r.Type, r.PotentiallyStale, r.Shard) }

// flipChange returns the record of a flip of a toggle of the range. If the toggle had not outlived the lifetime when
// the lifetime was changed, the flip has no cause but the passing of time.
func (r Range) flipChange(f Feature) eventlog.Change {
	var reason Reason
	if r.PotentiallyStale {
		reason = LifetimeChanged
	}
	var cause *int64
	if r.LastEvent > f.LastEvent &&
		(r.PotentiallyStale || f.outlived(Cutoff(r.LifetimeDays, eventlog.TimeOf(r.LastEvent)))) {
		cause = &r.LastEvent
	}
	change := f.flipChange(r.LifetimeDays, reason, cause)
	change.Last = f.LastEvent
	return change
}

// Page is a part of a range. Its toggles have what the staleness index contains: the name, the project, the type, the
// time of creation and the last event.
type Page struct {
	Toggles []Feature
	Next    *Feature // the start of the next page; nil: this is the last page
}

// canBecomeStale reports whether re-evaluation may flag the toggle. The staleness index contains only such toggles.
func (f Feature) canBecomeStale() bool { return !f.Archived && !f.Stale }

// usedFields returns the context fields whose usage includes the toggle.
func (f Feature) usedFields() []string {
	if f.Archived {
		return nil
	}
	return f.ContextFields
}

// normalized returns the toggle as it is stored.
func (f Feature) normalized() Feature {
	f.ContextFields = slices.Compact(slices.Sorted(slices.Values(f.ContextFields)))
	f.CreatedAt = datetime.Milliseconds(f.CreatedAt)
	if !f.Archived {
		f.ArchivedAt = nil
	} else if f.ArchivedAt != nil {
		f.ArchivedAt = new(datetime.Milliseconds(*f.ArchivedAt))
	}
	return f
}

const (
	millisecondsPerDay = 86_400_000
	// maxDays is more than the longest lifetime (2147483647), and does not overflow in milliseconds.
	maxDays = int64(100_000_000_000)
	maxYear = 9999
)

// hasEnd reports whether a lifetime ends.
func hasEnd(lifetimeDays *int64) bool {
	return lifetimeDays != nil && *lifetimeDays > 0 && *lifetimeDays <= maxDays
}

// Cutoff returns the latest time of creation, in milliseconds, of the toggles that have outlived a lifetime at the time
// now: now ≥ createdAt + lifetime. It returns nil if there are none, because there is no lifetime or because it began
// before the year 1.
func Cutoff(lifetimeDays *int64, now time.Time) *time.Time {
	if !hasEnd(lifetimeDays) {
		return nil
	}
	cutoff := time.UnixMilli(now.UnixMilli() - *lifetimeDays*millisecondsPerDay).UTC()
	if cutoff.Year() < 1 {
		return nil
	}
	return &cutoff
}

// PotentiallyStaleAt returns when the lifetime of the toggle's type ends or ended. It returns nil if the toggle is
// archived or marked as stale, if the type has no lifetime, or if it ends after the year 9999.
func (f Feature) PotentiallyStaleAt(lifetimeDays *int64) *time.Time {
	if !f.canBecomeStale() || !hasEnd(lifetimeDays) {
		return nil
	}
	at := time.UnixMilli(f.CreatedAt.UnixMilli() + *lifetimeDays*millisecondsPerDay).UTC()
	if at.Year() > maxYear {
		return nil
	}
	return &at
}

// State is what a search calls the state of a toggle.
type State string

// The states. A toggle has one of them.
const (
	Active           State = "active"
	Stale            State = "stale"
	PotentiallyStale State = "potentially-stale"
)

func (f Feature) state() State {
	switch {
	case f.Stale:
		return Stale
	case f.PotentiallyStale:
		return PotentiallyStale
	}
	return Active
}

// resets returns why a change from f to next decides the flag again (contract section 5), or nothing if the flag stays.
func (f Feature) resets(next Feature) Reason {
	switch {
	case f.Archived != next.Archived:
		return Archived
	case f.Stale != next.Stale:
		return MarkedStale
	case f.Type != next.Type:
		return TypeChanged
	}
	return ""
}

// Reason is why a flag was cleared.
type Reason string

// The reasons.
const (
	LifetimeChanged Reason = "lifetime-changed"
	Archived        Reason = "archived"
	MarkedStale     Reason = "marked-stale"
	TypeChanged     Reason = "type-changed"
	Deleted         Reason = "deleted"
)

// Flag is the data of the events feature-potentially-stale-on and -off.
type Flag struct {
	FeatureName  string `json:"featureName"`
	Project      string `json:"project"`
	FeatureType  string `json:"featureType"`
	LifetimeDays *int64 `json:"lifetimeDays"` // of the type; null: its toggles are never potentially stale
	CreatedAt    string `json:"createdAt"`    // of the toggle
	Reason       Reason `json:"reason,omitempty"`
	CausedBy     *int64 `json:"causedBy,omitempty"` // the id of the event of the lifetime that caused it
}

// flipChange returns the record of a flip of the flag, without the id of the toggle's last event. The flag is set if
// there is no reason to clear it. cause is the id of the event of the lifetime that causes the flip, or nil.
func (f Feature) flipChange(lifetimeDays *int64, reason Reason, cause *int64) eventlog.Change {
	kind := eventlog.FeaturePotentiallyStaleOn
	if reason != "" {
		kind = eventlog.FeaturePotentiallyStaleOff
	}
	return f.change(kind, Flag{
		FeatureName: f.Name, Project: f.Project, FeatureType: f.Type, LifetimeDays: lifetimeDays,
		CreatedAt: datetime.Format(f.CreatedAt), Reason: reason, CausedBy: cause,
	}, nil)
}

// snapshot is a toggle in the data of events.
type snapshot struct {
	Name           string  `json:"name"`
	Project        string  `json:"project"`
	Type           string  `json:"type"`
	Description    *string `json:"description"`
	ImpressionData bool    `json:"impressionData"`
	CreatedAt      string  `json:"createdAt"`
	// in another system; the creation is an event if it was in this one
	CreatedBy     string   `json:"createdBy,omitempty"`
	Archived      bool     `json:"archived"`
	ArchivedAt    *string  `json:"archivedAt"`
	Stale         bool     `json:"stale"`
	ContextFields []string `json:"contextFields"`
}

func (f Feature) snapshot() any {
	s := snapshot{
		Name: f.Name, Project: f.Project, Type: f.Type, Description: f.Description, ImpressionData: f.ImpressionData,
		CreatedAt: datetime.Format(f.CreatedAt), Archived: f.Archived, ArchivedAt: datetime.FormatOptional(f.ArchivedAt),
		Stale: f.Stale, ContextFields: append([]string{}, f.ContextFields...),
	}
	if f.CreatedBy != nil && f.CreatedBy.ID == 0 {
		s.CreatedBy = f.CreatedBy.Name
	}
	return s
}

func (f Feature) subject() eventlog.Subject { return eventlog.Subject("toggle:" + f.Name) }

// change returns the record of a change of the toggle, without the id of its last event.
func (f Feature) change(t eventlog.Type, data, preData any) eventlog.Change {
	return eventlog.Change{
		Type: t, Subject: f.subject(), Project: f.Project, FeatureName: f.Name, Data: data, PreData: preData,
	}
}

// differs reports whether a write changes the toggle other than its flag.
func (f Feature) differs(g Feature) bool {
	f.PotentiallyStale, f.LastEvent = g.PotentiallyStale, g.LastEvent
	return !reflect.DeepEqual(f.normalized(), g.normalized())
}
