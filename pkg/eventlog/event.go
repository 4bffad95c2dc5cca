package eventlog

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Subject is what an event is about: a kind and an id, such as toggle:checkout. It keeps its id when it is renamed.
type Subject string

// PersonSubject returns the subject of the events about a person.
func PersonSubject(id int64) Subject { return Subject("user:" + strconv.FormatInt(id, 10)) }

// Person returns the id of the person that the events of the subject are about. ok is false for another subject.
func (s Subject) Person() (id int64, ok bool) {
	text, ok := strings.CutPrefix(string(s), "user:")
	if !ok {
		return 0, false
	}
	id, err := strconv.ParseInt(text, 10, 64)
	return id, err == nil
}

// Event is an event as it is stored. Its id contains its time.
type Event struct {
	ID          int64
	Type        Type
	Subject     Subject
	SubjectName string // of a person, if user.Names has set it; "": none
	By          Actor
	RequestID   string          // of the API request; "": the change was not made by one
	Project     string          // "": none
	FeatureName string          // "": none
	Environment string          // "": none
	Data        json.RawMessage // an object, or nil
	PreData     json.RawMessage // an object, or nil
	PermittedBy PermittedBy
	Reason      string // that the caller gave for the change; "": none

	ChangeRequest int64 // the id of the change request that was applied; 0: none
}

// PermittedBy is how a change of a protected or frozen environment was permitted. It is empty for other changes.
type PermittedBy struct {
	SkippedChangeRequest bool `dynamodbav:"skippedChangeRequest,omitempty"` // by SKIP_CHANGE_REQUEST, or by an operator
	TurnedOff            bool `dynamodbav:"turnedOff,omitempty"`            // it only turns a toggle off
}

// CreatedAt returns the time in the event's id, in UTC, truncated to milliseconds.
func (e Event) CreatedAt() time.Time { return TimeOf(e.ID) }

// SubjectID returns the id in the subject of an event about an account or a token.
func (e Event) SubjectID() (int64, error) {
	_, text, _ := strings.Cut(string(e.Subject), ":")
	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("read the subject of event %d: %w", e.ID, err)
	}
	return id, nil
}
