package user

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/datetime"
)

// eventData is an account in the data of events. It contains no tokens and no personal data.
type eventData struct {
	ID        int64    `json:"id"`
	Name      string   `json:"name,omitempty"`     // of a service account
	Username  string   `json:"username,omitempty"` // of a service account
	RootRole  rootRole `json:"rootRole"`
	Disabled  bool     `json:"disabled"`
	Identity  any      `json:"identity,omitempty"` // *identity of a person, null without one
	CreatedAt *string  `json:"createdAt"`
	Changed   []string `json:"changed,omitempty"` // which of the name, the username and the e-mail address of a person
}

type rootRole struct {
	ID   int64  `json:"id"`
	Name string `json:"name"`
}

// identity is an identity without its subject, which is personal data.
type identity struct {
	Issuer        string `json:"issuer"`
	SubjectSHA256 string `json:"subjectSha256"` // hexadecimal
}

func (u User) eventData() eventData {
	s := eventData{
		ID: u.ID, RootRole: rootRole{int64(u.Role), u.Role.String()}, Disabled: u.Disabled,
		CreatedAt: datetime.FormatOptional(u.CreatedAt),
	}
	if u.Kind == Person {
		s.Identity = u.Identity.hashed()
	} else {
		s.Name, s.Username = u.Name, u.Username
	}
	return s
}

func (i *Identity) hashed() *identity {
	if i == nil {
		return nil
	}
	sum := sha256.Sum256([]byte(i.Subject))
	return &identity{i.Issuer, hex.EncodeToString(sum[:])}
}

// change returns the record of a change: the type for a person, or the one for a service account.
func (u User) change(person, account eventlog.Type, data, preData any) eventlog.Change {
	c := eventlog.Change{Type: person, Subject: u.Subject(), Last: u.LastEvent, Data: data, PreData: preData}
	if u.Kind == ServiceAccount {
		c.Type = account
	}
	return c
}

// Withdraws reports whether an event about a change of an account takes rights or an identity from it.
func Withdraws(e eventlog.Event) (bool, error) {
	var after, before struct {
		RootRole rootRole  `json:"rootRole"`
		Disabled bool      `json:"disabled"`
		Identity *identity `json:"identity"`
	}
	if err := errors.Join(json.Unmarshal(e.Data, &after), json.Unmarshal(e.PreData, &before)); err != nil {
		return false, fmt.Errorf("read the data of event %d: %w", e.ID, err)
	}
	return after.Disabled && !before.Disabled ||
		withdraws(access.Role(before.RootRole.ID), access.Role(after.RootRole.ID)) ||
		before.Identity != nil && (after.Identity == nil || *after.Identity != *before.Identity), nil
}

// withdraws reports whether a change of the role can take permissions. Of the predefined roles, one with a higher id has
// fewer permissions.
func withdraws(before, after access.Role) bool {
	return after > before || after != before && before > access.RoleViewer
}

// Subject returns the subject of the events about the account.
func (u User) Subject() eventlog.Subject {
	if u.Kind == ServiceAccount {
		return eventlog.Subject("account:" + strconv.FormatInt(u.ID, 10))
	}
	return eventlog.PersonSubject(u.ID)
}

func (u User) changeTo(next User) eventlog.Change {
	data := next.eventData()
	if u.Kind == Person {
		for _, p := range []struct{ name, before, after string }{
			{"email", u.Email, next.Email}, {"name", u.Name, next.Name}, {"username", u.Username, next.Username},
		} {
			if p.before != p.after {
				data.Changed = append(data.Changed, p.name)
			}
		}
	}
	return u.change(eventlog.UserUpdated, eventlog.ServiceAccountUpdated, data, u.eventData())
}

func (u User) creation() eventlog.Change {
	return u.change(eventlog.UserCreated, eventlog.ServiceAccountCreated, u.eventData(), nil)
}

func (u User) deletion() eventlog.Change {
	return u.change(eventlog.UserDeleted, eventlog.ServiceAccountDeleted, nil, u.eventData())
}

// Actor returns the account as the one who makes a change.
func (u User) Actor() eventlog.Actor {
	return eventlog.Actor{Name: u.RecordedName(), UserID: u.ID, IsServiceAccount: u.Kind == ServiceAccount}
}

// RecordedName returns how events name the account: the username of a service account, or the name of a person.
func (u User) RecordedName() string {
	if u.Kind == ServiceAccount && u.Username != "" {
		return u.Username
	}
	return u.Name
}
