// Package environment manages the environments, in which toggles have switches and strategies.
//
// The table Environments also contains the number of toggles that are on in each environment, and the number of its
// client tokens, in an item of its own (package references). The transactions of pkg/api/feature that write toggles,
// and those of pkg/api/clienttoken that create and delete tokens, change these numbers.
//
// The deletion of an environment has three parts: Store.MarkDeleted records it, after which the environment does not
// exist for readers and writers. Then the state of the environment is removed from all toggles. Store.Finish deletes
// the item. A repeated deletion continues one that was interrupted, and so does the creation of an environment with the
// name.
package environment

import (
	"fmt"

	"toggleadmin/pkg/api/references"
	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/toggle"
)

// TypeProduction is the type of environments whose toggles are used by everybody.
const TypeProduction = "production"

// Environment is an environment. All of them are enabled, and can be deleted.
type Environment struct {
	Name      string
	Type      string // any text, such as production
	SortOrder int64

	// RequiredApprovals is how many approvals changes need in each project at least; 0: none.
	RequiredApprovals int64
	Freeze            *access.Freeze // in all projects; nil: none

	References references.Counts // the toggles that are on, and the client tokens
	LastEvent  int64             // the id of its last event
	Full       bool              // what applications download must not become larger; read with References

	// Last makes a creation set SortOrder: the highest one of the other environments plus 1, at most 2147483647, or 1 if
	// there are no others. It is not stored.
	Last bool
}

// Limit is the maximum number of environments.
const Limit = 50

// CheckName returns nil if an environment can have the name. Otherwise the error says what is wrong.
func CheckName(name string) error {
	if err := CheckReserved(name); err != nil {
		return err
	}
	return toggle.CheckName(name)
}

// CheckReserved returns an error if /api/admin/environments/NAME begins the path of another operation.
func CheckReserved(name string) error {
	if name == "project" || name == "update" {
		return fmt.Errorf("must not be %q, which is a path of the API", name)
	}
	return nil
}

// Defaults returns the environments of a new installation.
func Defaults() []Environment {
	return []Environment{
		{Name: "development", Type: "development", SortOrder: 1},
		{Name: "production", Type: TypeProduction, SortOrder: 2},
	}
}

// Deletion is the deletion of an environment that has not ended.
type Deletion struct {
	Name  string
	Event int64 // the id of the event that records it
}

// NotFound returns the error if there is no environment with the name.
func NotFound(name string) error {
	return apierror.Errorf(apierror.NotFound, "There is no environment with the name %q.", apierror.Echo(name))
}

// eventData is an environment in the data of events.
type eventData struct {
	Name              string `json:"name"`
	Type              string `json:"type"`
	SortOrder         int64  `json:"sortOrder"`
	RequiredApprovals *int64 `json:"requiredApprovals"`
}

func (e Environment) eventData() eventData {
	return eventData{e.Name, e.Type, e.SortOrder, e.requiredApprovals()}
}

// requiredApprovals returns RequiredApprovals in the form of the API.
func (e Environment) requiredApprovals() *int64 {
	if e.RequiredApprovals == 0 {
		return nil
	}
	return &e.RequiredApprovals
}

func (e Environment) subject() eventlog.Subject { return eventlog.Subject("environment:" + e.Name) }

func (e Environment) change(t eventlog.Type, data, preData any) eventlog.Change {
	return eventlog.Change{
		Type:        t,
		Subject:     e.subject(),
		Last:        e.LastEvent,
		Environment: e.Name,
		Data:        data,
		PreData:     preData,
	}
}
