package toggle

import "time"

// State is what a search calls the state of a toggle. A toggle has one of them.
type State string

// The states.
const (
	StateActive           State = "active"
	StateStale            State = "stale"
	StatePotentiallyStale State = "potentially-stale"
)

// State returns the state of the toggle.
func (f Feature) State() State {
	switch {
	case f.Stale:
		return StateStale
	case f.PotentiallyStale:
		return StatePotentiallyStale
	}
	return StateActive
}

// CanBecomeStale reports whether the toggle can be potentially stale: it is neither archived nor marked as stale.
func (f Feature) CanBecomeStale() bool { return !f.Archived && !f.Stale }

const (
	millisecondsPerDay = 86_400_000
	// maxDays is more than MaxLifetimeDays, and does not overflow in milliseconds.
	maxDays = int64(100_000_000_000)
	maxYear = 9999
)

// ends reports whether a lifetime ends.
func ends(lifetimeDays *int64) bool {
	return lifetimeDays != nil && *lifetimeDays > 0 && *lifetimeDays <= maxDays
}

// Cutoff returns the latest time of creation, in milliseconds, of the toggles whose lifetime has expired at the time
// now: now ≥ createdAt + lifetime. It returns nil if there are none, because there is no lifetime or because it began
// before the year 1.
func Cutoff(lifetimeDays *int64, now time.Time) *time.Time {
	if !ends(lifetimeDays) {
		return nil
	}
	cutoff := time.UnixMilli(now.UnixMilli() - *lifetimeDays*millisecondsPerDay).UTC()
	if cutoff.Year() < 1 {
		return nil
	}
	return &cutoff
}

// Expired reports whether the lifetime of the toggle has expired: it was created at the cutoff or before.
func (f Feature) Expired(cutoff *time.Time) bool {
	return cutoff != nil && !f.CreatedAt.After(*cutoff)
}

// PotentiallyStaleAt returns when the lifetime of the toggle's type ends or ended. It returns nil if the toggle cannot
// become stale, if the type has no lifetime, or if it ends after the year 9999.
func (f Feature) PotentiallyStaleAt(lifetimeDays *int64) *time.Time {
	if !f.CanBecomeStale() || !ends(lifetimeDays) {
		return nil
	}
	at := time.UnixMilli(f.CreatedAt.UnixMilli() + *lifetimeDays*millisecondsPerDay).UTC()
	if at.Year() > maxYear {
		return nil
	}
	return &at
}

// IsPotentiallyStale reports whether the toggle is potentially stale at the time now.
func (f Feature) IsPotentiallyStale(lifetimeDays *int64, now time.Time) bool {
	at := f.PotentiallyStaleAt(lifetimeDays)
	return at != nil && !milliseconds(now).Before(*at)
}

// ClearReason is why PotentiallyStale was cleared.
type ClearReason string

// The reasons.
const (
	ReasonLifetimeChanged ClearReason = "lifetime-changed"
	ReasonArchived        ClearReason = "archived"
	ReasonMarkedStale     ClearReason = "marked-stale"
	ReasonTypeChanged     ClearReason = "type-changed"
	ReasonDeleted         ClearReason = "deleted"
)

// ClearReason returns why a change from f to next can clear PotentiallyStale, which is then decided again (contract
// section 5). It returns "" if the change does not affect PotentiallyStale.
func (f Feature) ClearReason(next Feature) ClearReason {
	switch {
	case f.Archived != next.Archived:
		return ReasonArchived
	case f.Stale != next.Stale:
		return ReasonMarkedStale
	case f.Type != next.Type:
		return ReasonTypeChanged
	}
	return ""
}
