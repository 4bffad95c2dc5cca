// Package changerequest is about change requests: lists of ordinary operations on toggles and segments that are applied
// in one transaction, after other people have approved them.
package changerequest

import (
	"encoding/json"
	"maps"
	"slices"
	"time"

	"toggleadmin/pkg/api/protection"
)

// State is the state of a change request.
type State string

// The states of change requests. The last three are final.
const (
	Draft     State = "Draft"
	InReview  State = "In review"
	Approved  State = "Approved"
	Scheduled State = "Scheduled"
	Applied   State = "Applied"
	Rejected  State = "Rejected"
	Canceled  State = "Cancelled" //nolint:misspell // as in Unleash
)

// States returns all states.
func States() []State {
	return []State{Draft, InReview, Approved, Scheduled, Applied, Rejected, Canceled}
}

// OpenStates returns the states that are not final.
func OpenStates() []State { return slices.DeleteFunc(States(), State.IsFinal) }

// IsFinal reports whether a request with the state changes no more.
func (s State) IsFinal() bool { return s == Applied || s == Rejected || s == Canceled }

// Request is a change request.
type Request struct {
	ID          int64               `dynamodbav:"id"`
	Project     string              `dynamodbav:"project"`
	Environment string              `dynamodbav:"environment"`
	Title       string              `dynamodbav:"title,omitempty"` // "": none
	State       State               `dynamodbav:"state"`
	Changes     []Change            `dynamodbav:"changes"`
	Approvals   []Vote              `dynamodbav:"approvals,omitempty"`
	Rejections  []Vote              `dynamodbav:"rejections,omitempty"`
	Comments    []Comment           `dynamodbav:"comments,omitempty"`
	Reviewers   []int64             `dynamodbav:"reviewers,omitempty"` // who was asked for an approval
	CreatedBy   Person              `dynamodbav:"createdBy"`
	CreatedAt   time.Time           `dynamodbav:"createdAt"`
	Authors     []int64             `dynamodbav:"authors,omitempty"` // the accounts that added, edited or deleted a change
	Reached     map[State]time.Time `dynamodbav:"reached"`
	Schedule    *Schedule           `dynamodbav:"schedule,omitempty"` // of the state Scheduled; nil: none
	LastID      int64               `dynamodbav:"lastId"`             // the highest id of a change or comment
	LastEvent   int64               `dynamodbav:"event"`              // the id of its last event
}

// Place returns the environment for which the request was made.
func (r Request) Place() protection.Place {
	return protection.Place{Project: r.Project, Environment: r.Environment}
}

// Person is who did something: an account, or an API token.
type Person struct {
	ID      int64  `dynamodbav:"id,omitempty"`      // of the account; 0: an API token
	Name    string `dynamodbav:"name,omitempty"`    // of an API token
	TokenID string `dynamodbav:"tokenId,omitempty"` // of an API token
}

// Change is one operation of a request.
type Change struct {
	ID        int64           `dynamodbav:"id"`
	Action    Action          `dynamodbav:"action"`
	Feature   string          `dynamodbav:"feature,omitempty"` // the name of the toggle; "": the change is of a segment
	Payload   json.RawMessage `dynamodbav:"payload,omitempty"` // the body of the direct operation, and ids; nil: none
	CreatedBy Person          `dynamodbav:"createdBy"`
	CreatedAt time.Time       `dynamodbav:"createdAt"`

	// Segment is the id of the segment that the change concerns; 0: it is one of a toggle.
	Segment int64 `dynamodbav:"segment,omitempty"`
	// StrategyID is the id of the strategy that the change adds, if it adds one.
	StrategyID string `dynamodbav:"strategyId,omitempty"`
	// Seen is the digest of what the result of the change depends on, as it was when the change was added.
	Seen string `dynamodbav:"seen,omitempty"`
}

// IsOfSegment reports whether the change is one of a segment, not of a toggle.
func (c Change) IsOfSegment() bool { return c.Action == UpdateSegment || c.Action == DeleteSegment }

// Action is the operation of a change.
type Action string

// The actions of changes.
const (
	UpdateEnabled    Action = "updateEnabled"
	AddStrategy      Action = "addStrategy"
	UpdateStrategy   Action = "updateStrategy"
	DeleteStrategy   Action = "deleteStrategy"
	ReorderStrategy  Action = "reorderStrategy"
	ArchiveFeature   Action = "archiveFeature"
	AddDependency    Action = "addDependency"
	DeleteDependency Action = "deleteDependency"
	UpdateSegment    Action = "updateSegment"
	DeleteSegment    Action = "deleteSegment"
)

// Vote is an approval or a rejection.
type Vote struct {
	By Person    `dynamodbav:"by"`
	At time.Time `dynamodbav:"at"`
	// StruckOut means that the approval does not count: when the request was to be applied, the person could not approve
	// any more.
	StruckOut bool `dynamodbav:"struckOut,omitempty"`
}

// Comment is what a person said about a request.
type Comment struct {
	ID   int64     `dynamodbav:"id"`
	Text string    `dynamodbav:"text"`
	By   Person    `dynamodbav:"by"`
	At   time.Time `dynamodbav:"at"`
}

// Schedule is when a request is to be applied.
type Schedule struct {
	At     time.Time      `dynamodbav:"at"`
	By     Person         `dynamodbav:"by"`
	Status ScheduleStatus `dynamodbav:"status"`
	Reason string         `dynamodbav:"reason,omitempty"` // for people, unless the status is Pending
	// Frozen means that a freeze has suspended the schedule. The request is applied after its end.
	Frozen bool `dynamodbav:"frozen,omitempty"`
	// FailingSince is when applying the request failed for the first time; nil: it did not.
	FailingSince *time.Time `dynamodbav:"failingSince,omitempty"`
}

// ScheduleStatus is whether a request will be applied at its time.
type ScheduleStatus string

// The statuses of schedules.
const (
	Pending   ScheduleStatus = "pending"
	Failed    ScheduleStatus = "failed"    // it was not possible at its time
	Suspended ScheduleStatus = "suspended" // a reason to trust the request is gone, or an environment is frozen
)

// isWaiting reports whether the request will be applied without anybody's help.
func (s *Schedule) isWaiting() bool { return s.Status == Pending || s.Frozen }

// IsAuthor reports whether an account has created or changed the request.
func (r Request) IsAuthor(account int64) bool {
	return account != 0 && slices.Contains(r.authors(), account)
}

// approvedBy returns the accounts whose approvals count.
func (r Request) approvedBy() (ids []int64) {
	for _, v := range r.Approvals {
		if !v.StruckOut {
			ids = append(ids, v.By.ID)
		}
	}
	return ids
}

// authors returns the accounts that have created or changed the request.
func (r Request) authors() []int64 {
	return slices.Compact(slices.Sorted(slices.Values(append(slices.Clone(r.Authors), r.CreatedBy.ID))))
}

// reach returns the request in another state, since a time.
func (r Request) reach(s State, at time.Time) Request {
	r.State = s
	r.Reached = maps.Clone(r.Reached)
	if r.Reached == nil {
		r.Reached = map[State]time.Time{}
	}
	r.Reached[s] = at
	if s != Scheduled {
		r.Schedule = nil
	}
	return r
}
