// Package segment manages the segments: lists of constraints that strategies share.
//
// The table Segments also contains the number of toggles that use each segment, in an item of its own (package
// references). The transactions of pkg/api/feature that write toggles change these numbers. A segment uses the context
// fields that its constraints name, so its own transactions change their references.
package segment

import (
	"strings"

	"toggleadmin/pkg/api/references"
	"toggleadmin/pkg/api/segmenttable"
	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/toggle"
)

// Segment is a segment with its references.
type Segment struct {
	segmenttable.Segment
	References references.Counts
}

// The limits of segments.
const (
	Limit     = 300  // segments
	MaxValues = 1000 // values in the constraints of a segment, unless an import has stored more
	maxFields = 30   // context fields of a segment: a transaction has at most 100 actions
)

// notFound returns the error if there is no segment with the id that was sent.
func notFound(id string) error {
	return apierror.Errorf(apierror.NotFound, "There is no segment with the id %q.", apierror.Echo(id))
}

// valuesOf returns the number of values in constraints.
func valuesOf(constraints []toggle.Constraint) (n int) {
	for _, c := range constraints {
		n += max(len(c.Values), 1)
	}
	return n
}

// sameName reports whether two names differ in letter case only.
func sameName(a, b string) bool { return strings.EqualFold(a, b) }

// eventData is a segment in the data of events.
type eventData struct {
	ID          int64               `json:"id"`
	Name        string              `json:"name"`
	Description *string             `json:"description"`
	Project     *string             `json:"project"`
	Constraints []toggle.Constraint `json:"constraints"`
}

func (s Segment) eventData() eventData {
	return eventData{s.ID, s.Name, s.Description, s.Project, s.Constraints}
}

func (s Segment) change(t eventlog.Type, data, preData any) eventlog.Change {
	return eventlog.Change{
		Type:    t,
		Subject: segmenttable.Subject(s.ID),
		Last:    s.LastEvent,
		Data:    data,
		PreData: preData,
	}
}
