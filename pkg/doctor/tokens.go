package doctor

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"toggleadmin/pkg/pat"
	"toggleadmin/pkg/user"
)

// mostNamed is how many tokens one finding names.
const mostNamed = 5

// tokens holds the PATs against the counter of their ids and against their owners' maps. One transaction writes all three, so they differ
// only where a table was changed or restored by itself. What somebody makes or deletes meanwhile is not there any more at the second look.
func (d *doctor) tokens(ctx context.Context) (string, error) {
	count, wrong, err := d.compareTokens(ctx)
	if err != nil {
		return "", err
	}
	if len(wrong) > 0 {
		first := wrong
		if count, wrong, err = d.compareTokens(ctx); err != nil {
			return "", err
		}
		wrong = slices.DeleteFunc(wrong, func(w string) bool { return !slices.Contains(first, w) })
	}
	if len(wrong) == 0 {
		return fmt.Sprintf("%d personal access tokens, as their counter and their owners have them", count), nil
	}
	detail := strings.Join(wrong[:min(len(wrong), mostNamed)], "; ")
	if more := len(wrong) - mostNamed; more > 0 {
		detail += fmt.Sprintf("; and %d more", more)
	}
	return "", problem(detail, "was the table PersonalAccessTokens restored without Users, or the other way round? See docs/backup.md")
}

// compareTokens gives how many PATs there are, and what is wrong with them.
func (d *doctor) compareTokens(ctx context.Context) (count int, wrong []string, err error) {
	i := d.Installation
	store := pat.NewStore(i.Client, i.Tables, d.Random)
	pats, err := store.List(ctx)
	if err != nil {
		return 0, nil, err
	}
	last, err := store.LastID(ctx) // after the list: the counter only rises
	if err != nil {
		return 0, nil, err
	}
	accounts, err := user.NewStore(i.Client, i.Tables).List(ctx)
	if err != nil {
		return 0, nil, err
	}
	report := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	places := map[int64]map[int64]bool{} // account → the tokens of its map
	for _, a := range accounts {
		places[a.ID] = map[int64]bool{}
		for _, id := range a.PATs {
			places[a.ID][id] = true
		}
	}
	if len(pats) > 0 && pats[len(pats)-1].ID > last {
		report("the counter of ids stands at %d, below the token %d: ids would be given twice", last, pats[len(pats)-1].ID)
	}
	for _, p := range pats {
		switch of, ok := places[p.UserID]; {
		case !ok:
			report("the token %d belongs to the account %d, which is not there", p.ID, p.UserID)
		case !of[p.ID]:
			report("the token %d is not among those that the account %d counts", p.ID, p.UserID)
		default:
			delete(of, p.ID)
		}
	}
	for _, a := range accounts {
		for id := range places[a.ID] {
			report("the account %d counts a token %d that is not there", a.ID, id)
		}
	}
	return len(pats), wrong, nil
}
