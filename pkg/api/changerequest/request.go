// Package changerequest is about change requests: lists of ordinary operations on toggles and segments that are applied
// in one transaction, after other people have approved them.
package changerequest

import (
	"encoding/json"
	"maps"
	"slices"
	"time"
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

// IsFinal reports whether a request with the state changes no more.
func (s State) IsFinal() bool { return s == Applied || s == Rejected || s == Canceled }

// Place is an environment of a project.
type Place struct {
	Project     string `dynamodbav:"project"`
	Environment string `dynamodbav:"environment"`
}

// Request is a change request.
type Request struct {
	ID         int64
	Place              // for which it was made
	Touches    []Place // the other places that it changes and that need approvals
	Title      string  // "": none
	State      State
	Changes    []Change
	Approvals  []Vote
	Rejections []Vote
	Comments   []Comment
	Reviewers  []int64 // who was asked for an approval
	CreatedBy  Person
	CreatedAt  time.Time
	Authors    []int64 // the accounts that have added, edited or deleted a change
	Reached    map[State]time.Time
	Schedule   *Schedule // of the state Scheduled; nil: none
	LastID     int64     // the highest id of a change or comment
	LastEvent  int64     // the id of its last event
}

// Person is who did something: an account, or an API token.
type Person struct {
	ID   int64  `dynamodbav:"id,omitempty"`   // of the account; 0: an API token
	Name string `dynamodbav:"name,omitempty"` // of an API token
}

// Change is one operation of a request.
type Change struct {
	ID        int64           `dynamodbav:"id"`
	Action    Action          `dynamodbav:"action"`
	Feature   string          `dynamodbav:"feature,omitempty"` // the name of the toggle; "": the change is of a segment
	Payload   json.RawMessage `dynamodbav:"payload,omitempty"` // the body of the direct operation, and ids; nil: none
	CreatedBy Person          `dynamodbav:"createdBy"`
	CreatedAt time.Time       `dynamodbav:"createdAt"`
}

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
}

// ScheduleStatus is whether a request will be applied at its time.
type ScheduleStatus string

// The statuses of schedules.
const (
	Pending   ScheduleStatus = "pending"
	Failed    ScheduleStatus = "failed"    // it was not possible at its time
	Suspended ScheduleStatus = "suspended" // a reason to trust the request is gone
)

// Places returns the places whose approvals a request can need, its own first.
func (r Request) Places() []Place { return append([]Place{r.Place}, r.Touches...) }

// IsAuthor reports whether an account has created or changed the request.
func (r Request) IsAuthor(account int64) bool {
	return account != 0 && (r.CreatedBy.ID == account || slices.Contains(r.Authors, account))
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
