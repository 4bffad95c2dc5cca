// Package segmenttable is the form of segments in the table Segments, and reading the table. pkg/api/segment is the
// only writer of the table.
package segmenttable

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/pkg/toggle"
)

// Table is the logical id of the table.
const Table = "Segments"

// Hash is the table's partition key: the id of a segment in decimal digits, or another key, which contains a #.
const Hash = "id"

// Segment is a segment as it is stored, without its references.
type Segment struct {
	toggle.Segment
	Description *string         // nil: none
	Project     *string         // a label; nil: none
	CreatedBy   *toggle.Creator // nil: unknown
	CreatedAt   time.Time
	LastEvent   int64 // the id of its last event
}

// itemKey is the key of an item.
type itemKey struct {
	ID string `dynamodbav:"id"`
}

// record is the item of a segment.
type record struct {
	itemKey
	Name        string    `dynamodbav:"name"`
	Description *string   `dynamodbav:"description,omitempty"`
	Project     *string   `dynamodbav:"project,omitempty"`
	Constraints string    `dynamodbav:"constraints"` // JSON
	CreatedByID int64     `dynamodbav:"createdById,omitempty"`
	CreatedBy   string    `dynamodbav:"createdBy,omitempty"` // of an imported segment, which has no CreatedByID
	CreatedAt   time.Time `dynamodbav:"createdAt"`
	LastEvent   int64     `dynamodbav:"event,omitempty"`
}

// Key returns the key of a segment.
func Key(id int64) dynamo.Item { return dynamo.Marshal(itemKey{Name(id)}) }

// Name returns the id of a segment as the name of a resource, for the references to it.
func Name(id int64) string { return strconv.FormatInt(id, 10) }

const subjectPrefix = "segment:"

// Subject returns the subject of the events of a segment.
func Subject(id int64) eventlog.Subject { return eventlog.Subject(subjectPrefix + Name(id)) }

// SubjectID returns the id of the segment that is the subject of an event. It returns false for another subject.
func SubjectID(s eventlog.Subject) (id int64, ok bool) {
	name, ok := strings.CutPrefix(string(s), subjectPrefix)
	if !ok {
		return 0, false
	}
	id, err := strconv.ParseInt(name, 10, 64)
	return id, err == nil
}

// IsSegment reports whether an item of the table is that of a segment.
func IsSegment(item dynamo.Item) bool { return !strings.Contains(item.String(Hash), "#") }

// Marshal returns the item of a segment.
func Marshal(s Segment) dynamo.Item {
	constraints, err := json.Marshal(s.Constraints)
	if err != nil { // texts and booleans
		panic(fmt.Sprintf("encode the constraints of the segment %d: %v", s.ID, err))
	}
	stored := record{
		itemKey:     itemKey{Name(s.ID)},
		Name:        s.Name,
		Description: s.Description,
		Project:     s.Project,
		Constraints: string(constraints),
		CreatedAt:   s.CreatedAt,
		LastEvent:   s.LastEvent,
	}
	if s.CreatedBy != nil {
		if stored.CreatedByID = s.CreatedBy.ID; stored.CreatedByID == 0 {
			stored.CreatedBy = s.CreatedBy.Name
		}
	}
	return dynamo.Marshal(stored)
}

// ID reads the id of a segment from its item, whose other attributes can be damaged.
func ID(item dynamo.Item) (int64, error) {
	id, err := strconv.ParseInt(item.String(Hash), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("read the id of a segment: %w", err)
	}
	return id, nil
}

// Unmarshal reads a segment from its item.
func Unmarshal(item dynamo.Item) (Segment, error) {
	var stored record
	if err := dynamo.Unmarshal(item, &stored); err != nil {
		return Segment{}, err
	}
	id, err := ID(item)
	if err != nil {
		return Segment{}, err
	}
	s := Segment{
		Segment:     toggle.Segment{ID: id, Name: stored.Name},
		Description: stored.Description,
		Project:     stored.Project,
		CreatedAt:   stored.CreatedAt,
		LastEvent:   stored.LastEvent,
	}
	if err := json.Unmarshal([]byte(stored.Constraints), &s.Constraints); err != nil {
		return Segment{}, fmt.Errorf("read the constraints of the segment %d: %w", id, err)
	}
	if stored.CreatedByID != 0 || stored.CreatedBy != "" {
		s.CreatedBy = &toggle.Creator{ID: stored.CreatedByID, Name: stored.CreatedBy}
	}
	return s, nil
}
