package doctor

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"toggleadmin/pkg/api/eventlog"
	"toggleadmin/pkg/api/pat"
	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/platform/dynamo"
)

// tokens compares the PATs with the counter of their ids and with the maps in their owners' accounts. The counter rises
// first, and then one transaction writes the other two.
func (d *doctor) tokens(ctx context.Context) (string, []inconsistency, error) {
	i := d.Installation
	var found []inconsistency
	report := func(repair func(context.Context) error, format string, args ...any) {
		found = append(found, inconsistency{text: fmt.Sprintf(format, args...), repair: repair})
	}
	pats, err := pat.NewStore(i.Client, i.Tables, nil, nil).List(ctx)
	if err != nil {
		return "", nil, err
	}
	users := user.NewStore(i.Client, i.Tables, nil)
	accounts, err := users.List(ctx)
	if err != nil {
		return "", nil, err
	}
	unfinished, err := users.Unfinished(ctx) // the check "deletions" reports them
	if err != nil {
		return "", nil, err
	}
	// token → owner, account → its map
	highest, exists, listed := int64(0), map[int64]int64{}, map[int64]map[string]int64{}
	for _, p := range pats {
		highest, exists[p.ID] = max(highest, p.ID), p.UserID
	}
	for _, a := range slices.Concat(accounts, unfinished) {
		listed[a.ID] = a.PATs
		for _, key := range slices.Sorted(maps.Keys(a.PATs)) {
			id := a.PATs[key]
			if highest = max(highest, id); exists[id] != a.ID {
				report(d.replace(i.Tables.Users, user.Key(a.ID), []string{user.AttributePATs, key}, dynamo.N(id), nil),
					"the account %d lists a token %d that does not exist", a.ID, id)
			}
		}
	}
	for _, p := range pats {
		if owned, ok := listed[p.UserID]; !ok {
			report(d.deleteToken(p), "the token %d belongs to the account %d, which does not exist", p.ID, p.UserID)
		} else if owned[pat.DescriptionKey(p.Description)] != p.ID {
			report(d.listToken(p), "the account %d does not list its token %d", p.UserID, p.ID)
		}
	}
	// after the lists, because it only rises
	counter, err := dynamo.Get(ctx, i.Client, i.Tables.PersonalAccessTokens, pat.Key(0, 0))
	if err != nil {
		return "", nil, fmt.Errorf("read the counter of tokens: %w", err)
	}
	var newest pat.PAT
	if len(pats) > 0 {
		newest = pats[len(pats)-1]
	}
	created, err := d.eventsSince(ctx, newest.Subject(), eventlog.PATCreated, eventlog.ServiceAccountTokenCreated)
	if err != nil {
		return "", nil, err
	}
	for _, e := range created {
		id, err := idOf(e)
		if err != nil {
			return "", nil, err
		}
		highest = max(highest, id)
	}
	if counter.Int("lastId") < highest {
		report(d.replace(i.Tables.PersonalAccessTokens, pat.Key(0, 0), []string{"lastId"}, counter["lastId"],
			dynamo.N(highest)),
			"the counter of ids is %d, below the token %d: ids would be reused", counter.Int("lastId"), highest)
	}
	return fmt.Sprintf("%d personal access tokens, consistent with their counter and their owners", len(pats)), found, nil
}

func (d *doctor) deleteToken(p pat.PAT) func(context.Context) error {
	i := d.Installation
	return func(ctx context.Context) error {
		return pat.NewStore(i.Client, i.Tables, i.Log(d.Now), nil).DeleteUnlisted(ctx, p)
	}
}

// listToken returns the repair of a token that its owner does not list: it is added to the list, so that it can be
// revoked. If the event log had its deletion, the comparison with the log would have deleted it before.
func (d *doctor) listToken(p pat.PAT) func(context.Context) error {
	path := []string{user.AttributePATs, pat.DescriptionKey(p.Description)}
	return d.replace(d.Installation.Tables.Users, user.Key(p.UserID), path, nil, dynamo.N(p.ID))
}

// deletions looks for accounts whose deletion has begun but not ended. They are unusable, and keep their username or
// e-mail address.
func (d *doctor) deletions(ctx context.Context) (string, error) {
	unfinished, err := user.NewStore(d.Installation.Client, d.Installation.Tables, nil).Unfinished(ctx)
	if err != nil {
		return "", err
	}
	if len(unfinished) == 0 {
		return "every deletion of an account has ended", nil
	}
	ids := make([]string, len(unfinished))
	for i, u := range unfinished {
		ids[i] = fmt.Sprintf("%s %d", u.Kind, u.ID)
	}
	return "", problem("the deletion of these accounts has not ended: "+list(ids),
		"if it is not running now, repeat it: `toggleadmin users delete ID` or `toggleadmin service-accounts delete ID`")
}
