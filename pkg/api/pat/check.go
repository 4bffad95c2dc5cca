package pat

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/platform/consistency"
	"toggleadmin/pkg/platform/dynamo"
)

// IsCounter reports whether a key of the table PersonalAccessTokens is that of the counter of ids, which only rises.
func IsCounter(key dynamo.Item) bool { return key.Int("userId") == 0 && key.Int("id") == 0 }

// Check compares the tokens with the counter of their ids and with the maps in their owners' accounts. It is a
// consistency.Check. The creation of a token raises the counter first, and then one transaction writes the other two.
func (s *Store) Check(ctx context.Context) (summary string, found []consistency.Inconsistency, err error) {
	tokens, err := s.List(ctx)
	if err != nil {
		return "", nil, err
	}
	accounts, err := s.accounts.List(ctx)
	if err != nil {
		return "", nil, err
	}
	deleting, err := s.accounts.Unfinished(ctx)
	if err != nil {
		return "", nil, err
	}
	owners := slices.Concat(accounts, deleting)
	highest, err := s.highestID(ctx, tokens, owners)
	if err != nil {
		return "", nil, err
	}
	counter, err := s.checkCounter(ctx, highest) // last, because the counter only rises
	if err != nil {
		return "", nil, err
	}
	summary = fmt.Sprintf("%d personal access tokens, consistent with their counter and their owners", len(tokens))
	return summary, slices.Concat(s.checkOwners(tokens, owners), s.checkTokens(tokens, owners), counter), nil
}

// checkOwners looks for entries in the maps of accounts whose tokens do not exist.
func (s *Store) checkOwners(tokens []PAT, owners []user.User) (found []consistency.Inconsistency) {
	ownerOf := map[int64]int64{} // by the id of the token
	for _, p := range tokens {
		ownerOf[p.ID] = p.UserID
	}
	for _, u := range owners {
		for _, key := range slices.Sorted(maps.Keys(u.PATs)) {
			id := u.PATs[key]
			if ownerOf[id] != u.ID {
				found = append(found, consistency.Inconsistency{
					Text: fmt.Sprintf("the account %d lists a token %d that does not exist", u.ID, id),
					Repair: dynamo.ReplaceAttribute(s.client, s.users, user.Key(u.ID), []string{user.AttributePATs, key},
						dynamo.N(id), nil),
				})
			}
		}
	}
	return found
}

// checkTokens looks for tokens whose owners do not exist or do not list them. A token that is not listed is added to
// the map, so that it can be revoked.
func (s *Store) checkTokens(tokens []PAT, owners []user.User) (found []consistency.Inconsistency) {
	listed := map[int64]map[string]int64{} // by the id of the owner
	for _, u := range owners {
		listed[u.ID] = u.PATs
	}
	for _, p := range tokens {
		list, exists := listed[p.UserID]
		key := DescriptionKey(p.Description)
		switch {
		case !exists:
			found = append(found, consistency.Inconsistency{
				Text:   fmt.Sprintf("the token %d belongs to the account %d, which does not exist", p.ID, p.UserID),
				Repair: func(ctx context.Context) error { return s.DeleteUnlisted(ctx, p) },
			})
		case list[key] != p.ID:
			found = append(found, consistency.Inconsistency{
				Text: fmt.Sprintf("the account %d does not list its token %d", p.UserID, p.ID),
				Repair: dynamo.ReplaceAttribute(s.client, s.users, user.Key(p.UserID), []string{user.AttributePATs, key},
					nil, dynamo.N(p.ID)),
			})
		}
	}
	return found
}

// highestID returns the highest id of a token that exists, that an account lists, or whose creation is recorded.
func (s *Store) highestID(ctx context.Context, tokens []PAT, owners []user.User) (highest int64, err error) {
	for _, u := range owners {
		for _, id := range u.PATs {
			highest = max(highest, id)
		}
	}
	for _, p := range tokens {
		highest = max(highest, p.ID)
	}
	recorded, err := eventlog.NewReader(s.log).HighestID(ctx, eventlog.PATCreated, eventlog.ServiceAccountTokenCreated)
	return max(highest, recorded), err
}

// checkCounter compares the counter of ids with the highest id of a token.
func (s *Store) checkCounter(ctx context.Context, highest int64) ([]consistency.Inconsistency, error) {
	counter, err := dynamo.Get(ctx, s.client, s.pats, Key(0, 0))
	if err != nil {
		return nil, fmt.Errorf("read the counter of tokens: %w", err)
	}
	if counter.Int(lastID) >= highest {
		return nil, nil
	}
	return []consistency.Inconsistency{{
		Text: fmt.Sprintf("the counter of ids is %d, below the token %d: ids would be reused", counter.Int(lastID), highest),
		Repair: dynamo.ReplaceAttribute(s.client, s.pats, Key(0, 0), []string{lastID}, counter[lastID],
			dynamo.N(highest)),
	}}, nil
}
