package user

import (
	"encoding/json"
	"fmt"

	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/platform/access"
)

// Recorded is what the event log says about an account. The zero value is that of an account without events.
type Recorded struct {
	Known    bool  // an event has the state of the account
	Last     int64 // the id of the last event, of any type
	Deleted  bool  // and not enabled since then
	Disabled bool
	Role     access.Role

	identity *identity
}

// recordedState is the part of the data of an event that Recorded follows.
type recordedState struct {
	RootRole rootRole  `json:"rootRole"`
	Disabled bool      `json:"disabled"`
	Identity *identity `json:"identity"`
}

// Add adds the next event of the account. An event changes only what differs between its preData and its data: if the
// item was restored before the event, both also contain what the restore brought back.
func (r *Recorded) Add(e eventlog.Event) error {
	r.Last = e.ID
	before, err := readState(e.PreData)
	if err != nil {
		return fmt.Errorf("read preData of event %d: %w", e.ID, err)
	}
	after, err := readState(e.Data)
	if err != nil {
		return fmt.Errorf("read data of event %d: %w", e.ID, err)
	}
	switch e.Type {
	case eventlog.UserCreated, eventlog.ServiceAccountCreated:
		r.set(after)
	case eventlog.UserUpdated, eventlog.ServiceAccountUpdated:
		if !r.Known {
			r.set(before)
		}
		if after.RootRole != before.RootRole {
			r.Role = after.RootRole.Name
		}
		if after.Disabled != before.Disabled {
			r.Disabled, r.Deleted = after.Disabled, r.Deleted && after.Disabled
		}
		if !after.Identity.equals(before.Identity) {
			r.identity = after.Identity
		}
	case eventlog.UserDeleted, eventlog.ServiceAccountDeleted:
		if !r.Known {
			r.set(before)
		}
		r.Deleted = true
	default: // events of other subjects, and of names
	}
	return nil
}

func readState(data json.RawMessage) (s recordedState, err error) {
	if data != nil {
		err = json.Unmarshal(data, &s)
	}
	return s, err
}

func (r *Recorded) set(s recordedState) {
	r.Known, r.Role, r.Disabled, r.identity = true, s.RootRole.Name, s.Disabled, s.Identity
}

// HasIdentity reports whether the identity is the person's in the log.
func (r *Recorded) HasIdentity(i Identity) bool { return r.identity.equals(i.hashed()) }

func (i *identity) equals(other *identity) bool {
	if i == nil || other == nil {
		return i == other
	}
	return *i == *other
}
