package user

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/consistency"
)

// CheckRecorded compares the accounts with the event log. It is a consistency.Check. A restored table brings back
// accounts that were deleted, disabled or demoted after the restored second, and identities that were removed. The
// repairs only withdraw: they disable and demote, and remove identities. They do not delete, because the purpose of a
// restore can be to undo a deletion.
func (s *Store) CheckRecorded(ctx context.Context) (summary string, found []consistency.Inconsistency, err error) {
	accounts, err := s.List(ctx) // before the events, so that the log is not behind
	if err != nil {
		return "", nil, err
	}
	recorded, err := s.histories(ctx, accounts)
	if err != nil {
		return "", nil, err
	}
	for _, u := range accounts {
		r := recorded[u.Subject()]
		if !r.Known || r.Last < u.LastEvent { // the log was restored too
			continue
		}
		if u.Role != r.Role || u.Disabled != r.Disabled || r.Deleted {
			found = append(found, s.differentRights(u, *r))
		}
		if u.Identity != nil && !r.HasIdentity(*u.Identity) {
			found = append(found, consistency.Inconsistency{
				Text:   fmt.Sprintf("%s has an identity that was removed", u.described()),
				Repair: func(ctx context.Context) error { return s.unlinkUnchanged(ctx, u) },
			})
		}
	}
	return fmt.Sprintf("%d, with the roles, states and identities of the event log", len(accounts)), found, nil
}

// histories returns what the log has about accounts.
func (s *Store) histories(ctx context.Context, accounts []User) (map[eventlog.Subject]*Recorded, error) {
	var subjects []eventlog.Subject
	recorded := map[eventlog.Subject]*Recorded{}
	for _, u := range accounts {
		subjects = append(subjects, u.Subject())
		recorded[u.Subject()] = &Recorded{}
	}
	err := eventlog.NewReader(s.log).About(ctx, subjects, nil, func(e eventlog.Event) error {
		return recorded[e.Subject].Add(e)
	})
	return recorded, err
}

// differentRights returns the inconsistency of an account whose role, state or existence is not as recorded.
func (s *Store) differentRights(u User, r Recorded) consistency.Inconsistency {
	recorded := fmt.Sprintf("%s as %s", state(r.Disabled), r.Role)
	if r.Deleted {
		recorded = "deleted"
	}
	i := consistency.Inconsistency{
		Text: fmt.Sprintf("%s is %s as %s, and %s in the event log", u.described(), state(u.Disabled), u.Role, recorded),
	}
	role := slices.MaxFunc([]access.Role{u.Role, r.Role}, // the one with fewer permissions
		func(a, b access.Role) int { return cmp.Compare(a.ID(), b.ID()) })
	disabled := u.Disabled || r.Disabled || r.Deleted
	if role != u.Role || disabled != u.Disabled {
		i.Repair = func(ctx context.Context) error { return s.Restrict(ctx, u, role, disabled) }
		return i
	}
	switch {
	case r.Deleted:
		i.Steps = append(i.Steps,
			consistency.Step{Text: "delete it again", Command: u.command("delete")},
			consistency.Step{Text: "or keep it", Command: u.command("enable")})
	case u.Disabled && !r.Disabled:
		i.Steps = append(i.Steps, consistency.Step{Command: u.command("enable")})
	}
	if u.Role != r.Role {
		i.Steps = append(i.Steps, consistency.Step{Command: u.command("set-role") + " " + string(r.Role)})
	}
	return i
}

func state(disabled bool) string {
	if disabled {
		return "disabled"
	}
	return "enabled"
}

// described names the account in the text of an inconsistency.
func (u User) described() string { return fmt.Sprintf("the account %d (%s)", u.ID, u.RecordedName()) }

// command returns the command of toggleadmin that carries out an action on the account.
func (u User) command(action string) string { return fmt.Sprintf("%ss %s %d", u.Kind, action, u.ID) }

// unlinkUnchanged removes the identity of a person who has not changed since they were read.
func (s *Store) unlinkUnchanged(ctx context.Context, read User) error {
	u, err := s.Get(ctx, read.ID)
	if err == nil && u.LastEvent == read.LastEvent {
		_, err = s.Unlink(ctx, read.ID)
	}
	return err
}
