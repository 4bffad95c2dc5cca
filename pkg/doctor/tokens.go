package doctor

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"toggleadmin/pkg/pat"
	"toggleadmin/pkg/user"
)

// maxNamed is the maximum number of inconsistencies in one finding.
const maxNamed = 5

// tokens compares the PATs with the counter of their ids and with the maps in their owners' accounts. The counter rises first, and
// then one transaction writes the other two, so they differ only if a single table was changed or restored. The reads are not a snapshot, so
// only differences in both of two comparisons are reported.
func (d *doctor) tokens(ctx context.Context) (string, error) {
	count, differences, err := d.compareTokens(ctx)
	if err != nil {
		return "", err
	}
	if len(differences) > 0 {
		first := differences
		if count, differences, err = d.compareTokens(ctx); err != nil {
			return "", err
		}
		differences = slices.DeleteFunc(differences, func(text string) bool { return !slices.Contains(first, text) })
	}
	if len(differences) == 0 {
		return fmt.Sprintf("%d personal access tokens, consistent with their counter and their owners", count), nil
	}
	n, noun := len(differences), "inconsistencies"
	if n == 1 {
		noun = "inconsistency"
	}
	return "", problem(fmt.Sprintf("%d %s: %s", n, noun, strings.Join(differences[:min(n, maxNamed)], "; ")),
		"was the table PersonalAccessTokens restored without Users, or Users without it? See docs/backup.md")
}

func (d *doctor) compareTokens(ctx context.Context) (count int, differences []string, err error) {
	i := d.Installation
	store := pat.NewStore(i.Client, i.Tables, d.Random)
	pats, err := store.List(ctx)
	if err != nil {
		return 0, nil, err
	}
	last, err := store.LastID(ctx) // after the list, because the counter only rises
	if err != nil {
		return 0, nil, err
	}
	users := user.NewStore(i.Client, i.Tables)
	accounts, err := users.List(ctx)
	if err != nil {
		return 0, nil, err
	}
	unfinished, err := users.Unfinished(ctx) // the check "deletions" reports them
	if err != nil {
		return 0, nil, err
	}
	accounts = append(accounts, unfinished...)
	report := func(format string, args ...any) { differences = append(differences, fmt.Sprintf(format, args...)) }
	owners := map[int64][]int64{} // of each token, by the accounts' maps
	exists := map[int64]bool{}    // accounts
	for _, a := range accounts {
		exists[a.ID] = true
		for _, id := range a.PATs {
			owners[id] = append(owners[id], a.ID)
		}
	}
	if n := len(pats); n > 0 && pats[n-1].ID > last {
		report("the counter of ids is %d, below the token %d: ids would be reused", last, pats[n-1].ID)
	}
	for _, p := range pats {
		if !exists[p.UserID] {
			report("the token %d belongs to the account %d, which does not exist", p.ID, p.UserID)
		} else if !slices.Contains(owners[p.ID], p.UserID) {
			report("the account %d does not list its token %d", p.UserID, p.ID)
		}
		owners[p.ID] = slices.DeleteFunc(owners[p.ID], func(account int64) bool { return account == p.UserID })
	}
	for _, a := range accounts {
		for _, id := range a.PATs {
			if slices.Contains(owners[id], a.ID) {
				report("the account %d lists a token %d that does not exist", a.ID, id)
			}
		}
	}
	return len(pats), differences, nil
}

// deletions looks for accounts whose deletion has begun but not ended. They are unusable, and keep their username or e-mail address.
func (d *doctor) deletions(ctx context.Context) (string, error) {
	unfinished, err := user.NewStore(d.Installation.Client, d.Installation.Tables).Unfinished(ctx)
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
	return "", problem("the deletion of these accounts has not ended: "+strings.Join(ids[:min(len(ids), maxNamed)], ", "),
		"if it is not running now, repeat it: `toggleadmin users delete ID` or `toggleadmin service-accounts delete ID`")
}
