package doctor

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"toggleadmin/pkg/api/apitoken"
	"toggleadmin/pkg/api/eventlog"
	"toggleadmin/pkg/api/feature"
	"toggleadmin/pkg/api/pat"
	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/datetime"
	"toggleadmin/pkg/platform/dynamo"
)

// maxSubjects is the number of subjects whose events are read at the same time.
const maxSubjects = 50

// eachEvent calls yield with the events of some types about subjects. The events of one subject are in their order.
// Without types these are all events.
func (d *doctor) eachEvent(ctx context.Context, subjects []string, some []eventlog.Type,
	yield func(eventlog.Event) error) error {
	var f eventlog.Filter
	for _, t := range some {
		f.Types = append(f.Types, string(t))
	}
	for some := range slices.Chunk(subjects, maxSubjects) {
		f.Subjects = some
		if err := d.Installation.Log(d.Now).All(ctx, f, yield); err != nil {
			return err
		}
	}
	return nil
}

// recordedAccounts compares the accounts with the event log. A restored table brings back accounts that were deleted,
// disabled or demoted after the restored second, and identities that were removed. The repairs only withdraw: they
// disable and demote, and remove identities. They do not delete, because the purpose of a restore can be to undo a
// deletion.
func (d *doctor) recordedAccounts(ctx context.Context) (string, []inconsistency, error) {
	i := d.Installation
	users := user.NewStore(i.Client, i.Tables, i.Log(d.Now))
	accounts, err := users.List(ctx) // before the events, so that the log is not behind
	if err != nil {
		return "", nil, err
	}
	recorded, err := d.histories(ctx, accounts)
	if err != nil {
		return "", nil, err
	}
	var found []inconsistency
	for _, u := range accounts {
		r := recorded[string(u.Subject())]
		if !r.Known || r.Last < u.LastEvent { // the log was restored too
			continue
		}
		if u.Role != r.Role || u.Disabled != r.Disabled || r.Deleted {
			found = append(found, d.differentRights(users, u, r))
		}
		if u.Identity != nil && !r.HasIdentity(*u.Identity) {
			found = append(found, inconsistency{
				text:   fmt.Sprintf("%s has an identity that was removed", naming(u)),
				repair: unlink(users, u),
			})
		}
	}
	return fmt.Sprintf("%d, with the roles, states and identities of the event log", len(accounts)), found, nil
}

// histories returns what the log has about accounts, by subject. It waits until the index of the log has the last event
// of each account that the log itself has.
func (d *doctor) histories(ctx context.Context, accounts []user.User) (map[string]*user.Recorded, error) {
	for attempt := 1; ; attempt++ {
		var subjects []string
		recorded := map[string]*user.Recorded{}
		for _, u := range accounts {
			subject := string(u.Subject())
			subjects, recorded[subject] = append(subjects, subject), &user.Recorded{}
		}
		add := func(e eventlog.Event) error { return recorded[string(e.Subject)].Add(e) }
		if err := d.eachEvent(ctx, subjects, nil, add); err != nil {
			return nil, err
		}
		behind := false
		for _, u := range accounts {
			if recorded[string(u.Subject())].Last >= u.LastEvent {
				continue
			}
			last, err := d.Installation.Log(d.Now).Newest(ctx, eventlog.Filter{IDs: []int64{u.LastEvent}}, 1)
			if err != nil {
				return nil, err
			}
			behind = behind || len(last) > 0
		}
		if !behind {
			return recorded, nil
		}
		if err := dynamo.Pause(ctx, attempt); err != nil {
			return nil, fmt.Errorf("wait for the index of the event log: %w", err)
		}
	}
}

// differentRights returns an account whose role, state or existence is not as recorded.
func (d *doctor) differentRights(users *user.Store, u user.User, r *user.Recorded) inconsistency {
	state := map[bool]string{true: "disabled", false: "enabled"}
	as := fmt.Sprintf("%s as %s", state[r.Disabled], r.Role)
	if r.Deleted {
		as = "deleted"
	}
	difference := inconsistency{text: fmt.Sprintf("%s is %s as %s, and %s in the event log", naming(u), state[u.Disabled],
		u.Role, as)}
	role := slices.MaxFunc([]access.Role{u.Role, r.Role}, // the one with fewer permissions
		func(a, b access.Role) int { return cmp.Compare(a.ID(), b.ID()) })
	disabled := u.Disabled || r.Disabled || r.Deleted
	if role != u.Role || disabled != u.Disabled {
		difference.repair = func(ctx context.Context) error { return users.Restrict(ctx, u, role, disabled) }
		return difference
	}
	command := func(action, arguments string) string {
		return fmt.Sprintf("`toggleadmin %ss %s %d%s %s`", u.Kind, action, u.ID, arguments, d.Installation.Option)
	}
	var advice []string
	switch {
	case r.Deleted:
		advice = append(advice, "delete it again: "+command("delete", "")+", or keep it: "+command("enable", ""))
	case u.Disabled && !r.Disabled:
		advice = append(advice, command("enable", ""))
	}
	if u.Role != r.Role {
		advice = append(advice, command("set-role", " "+string(r.Role)))
	}
	difference.advice = strings.Join(advice, ", ")
	return difference
}

func naming(u user.User) string { return fmt.Sprintf("the account %d (%s)", u.ID, u.RecordedName()) }

// unlink returns the repair that removes the identity of a person who has not changed since they were read.
func unlink(users *user.Store, read user.User) func(context.Context) error {
	return func(ctx context.Context) error {
		u, err := users.Get(ctx, read.ID)
		if err == nil && u.LastEvent == read.LastEvent {
			_, err = users.Unlink(ctx, read.ID)
		}
		return err
	}
}

// recordedTokens looks for tokens whose deletion the event log has. A restored table brings them back. An event about
// such a token can follow its deletion, such as the announcement of its expiry.
func (d *doctor) recordedTokens(ctx context.Context) (string, []inconsistency, error) {
	i := d.Installation
	pats := pat.NewStore(i.Client, i.Tables, i.Log(d.Now), nil)
	personal, err := pats.List(ctx)
	if err != nil {
		return "", nil, err
	}
	apiTokens := apitoken.NewStore(i.Client, i.Tables, i.Log(d.Now))
	api, err := apiTokens.List(ctx)
	if err != nil {
		return "", nil, err
	}
	var subjects []string
	existing := map[string]inconsistency{} // by subject, without the time of the deletion
	for _, p := range personal {
		subject := string(p.Subject())
		subjects = append(subjects, subject)
		existing[subject] = inconsistency{
			text:   fmt.Sprintf("the token %d (%s) of the account %d", p.ID, p.Description, p.UserID),
			repair: func(ctx context.Context) error { return pats.DeleteUnlisted(ctx, p) },
		}
	}
	for _, t := range api {
		subject := string(t.Subject())
		subjects = append(subjects, subject)
		existing[subject] = inconsistency{
			text:   fmt.Sprintf("the API token %s (%s)", t.Selector, t.Name),
			repair: func(ctx context.Context) error { return apiTokens.Delete(ctx, t.Selector) },
		}
	}
	var found []inconsistency
	deletions := []eventlog.Type{eventlog.PATDeleted, eventlog.ServiceAccountTokenDeleted, eventlog.APITokenDeleted}
	err = d.eachEvent(ctx, subjects, deletions, func(e eventlog.Event) error {
		if token, ok := existing[string(e.Subject)]; ok {
			delete(existing, string(e.Subject)) // a token has two deletions if it was restored before
			token.text += " was revoked at " + datetime.Format(e.CreatedAt())
			found = append(found, token)
		}
		return nil
	})
	if err != nil {
		return "", nil, err
	}
	return fmt.Sprintf("%d, none of which was revoked", len(subjects)), found, nil
}

// removedNames looks for toggles with the name of a creator that was removed. A restored table brings it back.
func (d *doctor) removedNames(ctx context.Context) (string, []inconsistency, error) {
	i := d.Installation
	features := feature.NewStore(i.Client, i.Tables, nil)
	toggles, err := features.List(ctx)
	if err != nil {
		return "", nil, err
	}
	named := map[string]feature.Feature{} // subject of the creator → the first toggle that has their name
	for _, t := range toggles {
		if t.CreatedBy == nil || t.CreatedBy.ID == 0 {
			continue
		}
		subject := string(eventlog.PersonSubject(t.CreatedBy.ID))
		first, ok := named[subject]
		if t.CreatedBy.Name != subject && (!ok || t.CreatedAt.Before(first.CreatedAt)) {
			named[subject] = t
		}
	}
	var found []inconsistency
	err = d.eachEvent(ctx, slices.Sorted(maps.Keys(named)), []eventlog.Type{eventlog.UserNameRemoved},
		func(e eventlog.Event) error {
			// a person whose name was removed can create further toggles
			if t, ok := named[string(e.Subject)]; ok && t.CreatedAt.Before(e.CreatedAt()) {
				delete(named, string(e.Subject)) // a name can be removed twice
				id := t.CreatedBy.ID
				found = append(found, inconsistency{
					text:   fmt.Sprintf("toggles have the name of the user %d, which was removed", id),
					repair: func(ctx context.Context) error { return features.RemoveCreatorName(ctx, id) },
				})
			}
			return nil
		})
	if err != nil {
		return "", nil, err
	}
	return "none in toggles", found, nil
}
