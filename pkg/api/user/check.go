package user

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/platform/consistency"
	"toggleadmin/pkg/platform/dynamo"
)

// IsCounter reports whether a key of the table Users is that of the counter of ids, which only rises.
func IsCounter(key dynamo.Item) bool { return key.Int(hash) == counterID }

// relations are the items that Check compares.
type relations struct {
	accounts    map[int64]User
	deleting    map[int64]bool         // accounts whose deletion has begun
	number      dynamo.Item            // the item with the numbers of accounts
	identifiers map[string]dynamo.Item // by identifier
}

// Check compares the accounts with the counter of their ids, the numbers of accounts and the table Identifiers.
// It is a consistency.Check.
func (s *Store) Check(ctx context.Context) (summary string, found []consistency.Inconsistency, err error) {
	r, err := s.relations(ctx)
	if err != nil {
		return "", nil, err
	}
	owners := r.owners()
	found = slices.Concat(s.checkReservations(r, owners), s.checkOwners(r, owners), s.checkNumbers(r))
	recorded, err := eventlog.NewReader(s.log).HighestID(ctx, eventlog.UserCreated, eventlog.ServiceAccountCreated)
	if err != nil {
		return "", nil, err
	}
	counter, err := s.checkCounter(ctx, max(r.highest(), recorded)) // last, because the counter only rises
	if err != nil {
		return "", nil, err
	}
	summary = fmt.Sprintf("%d, consistent with their identifiers, their numbers and the counter of ids", len(r.accounts))
	return summary, append(found, counter...), nil
}

// relations reads the tables Identifiers and Users.
func (s *Store) relations(ctx context.Context) (relations, error) {
	r := relations{
		accounts:    map[int64]User{},
		deleting:    map[int64]bool{},
		identifiers: map[string]dynamo.Item{},
	}
	for item, err := range dynamo.Scan(ctx, s.client, s.identifiers) {
		if err != nil {
			return relations{}, fmt.Errorf("read the identifiers: %w", err)
		}
		r.identifiers[item.String(hash)] = item
	}
	for item, err := range dynamo.Scan(ctx, s.client, s.table) {
		if err != nil {
			return relations{}, fmt.Errorf("read the accounts: %w", err)
		}
		switch {
		case isAccount(item):
			u, err := FromItem(item)
			if err != nil {
				return relations{}, fmt.Errorf("read the accounts: %w", err)
			}
			r.accounts[u.ID] = u
		case item[attributeDeleting] != nil:
			var stored record
			if err := dynamo.Unmarshal(item, &stored); err != nil {
				return relations{}, fmt.Errorf("read the accounts: %w", err)
			}
			r.accounts[stored.ID] = stored.deleted()
			r.deleting[stored.ID] = true
		case item.Int(hash) == numberID:
			r.number = item
		}
	}
	return r, nil
}

// owners returns the accounts that have each identifier, in the order of their ids. After the deletion of an account
// has begun, other accounts can take its identifiers. It owns those that no other account has, and that are still
// reserved for it.
func (r relations) owners() map[string][]int64 {
	owners := map[string][]int64{}
	ids := slices.Sorted(maps.Keys(r.accounts))
	for _, id := range ids {
		if r.deleting[id] {
			continue
		}
		for _, name := range r.accounts[id].identifiers() {
			owners[name] = append(owners[name], id)
		}
	}
	for _, id := range ids {
		if !r.deleting[id] {
			continue
		}
		for _, name := range r.accounts[id].identifiers() {
			if len(owners[name]) == 0 && r.identifiers[name].Int(accountID) == id {
				owners[name] = []int64{id}
			}
		}
	}
	return owners
}

// highest returns the highest id of an account that exists or has an identifier.
func (r relations) highest() (id int64) {
	for account := range r.accounts {
		id = max(id, account)
	}
	for _, item := range r.identifiers {
		id = max(id, item.Int(accountID))
	}
	return id
}

// checkReservations looks for identifiers that no account has.
func (s *Store) checkReservations(r relations, owners map[string][]int64) (found []consistency.Inconsistency) {
	for _, name := range slices.Sorted(maps.Keys(r.identifiers)) {
		if len(owners[name]) > 0 {
			continue
		}
		item := r.identifiers[name]
		version := accountID
		if item[eventlog.AttributeEvent] != nil { // a link; another link to the same account has another event
			version = eventlog.AttributeEvent
		}
		found = append(found, consistency.Inconsistency{
			Text:   fmt.Sprintf("%q is reserved for the account %d, which does not have it", name, item.Int(accountID)),
			Repair: dynamo.DeleteMatching(s.client, s.identifiers, IdentifierKey(name), version, item[version]),
		})
	}
	return found
}

// checkOwners looks for accounts whose identifiers are not reserved for them.
func (s *Store) checkOwners(r relations, owners map[string][]int64) (found []consistency.Inconsistency) {
	for _, name := range slices.Sorted(maps.Keys(owners)) {
		id := owners[name][0]
		reservation := r.identifiers[name]
		reserve := dynamo.ReplaceAttribute(s.client, s.identifiers, IdentifierKey(name), []string{accountID},
			reservation[accountID], dynamo.N(id))
		switch {
		case len(owners[name]) > 1:
			found = append(found, consistency.Inconsistency{
				Text:   fmt.Sprintf("the accounts %d and %d have the same %q", id, owners[name][1], name),
				Advice: "delete one of the two accounts",
			})
		case reservation == nil:
			found = append(found, consistency.Inconsistency{
				Text:   fmt.Sprintf("%q of the account %d is not reserved", name, id),
				Repair: reserve,
			})
		case reservation.Int(accountID) != id:
			found = append(found, consistency.Inconsistency{
				Text: fmt.Sprintf("%q of the account %d is reserved for the account %d", name, id,
					reservation.Int(accountID)),
				Repair: reserve,
			})
		}
	}
	return found
}

// checkNumbers compares the numbers of people and of service accounts with those that exist.
func (s *Store) checkNumbers(r relations) (found []consistency.Inconsistency) {
	for _, kind := range []Kind{Person, ServiceAccount} {
		attribute := numberOf(kind)
		var existing int64
		for _, u := range r.accounts {
			if u.Kind == kind {
				existing++
			}
		}
		if r.number.Int(attribute) == existing {
			continue
		}
		found = append(found, consistency.Inconsistency{
			Text: fmt.Sprintf("the number of %s is %d, not %d", plural(kind), existing, r.number.Int(attribute)),
			Repair: dynamo.ReplaceAttribute(s.client, s.table, Key(numberID), []string{attribute}, r.number[attribute],
				dynamo.N(existing)),
		})
	}
	return found
}

// plural returns how texts name the accounts of a kind.
func plural(kind Kind) string {
	if kind == ServiceAccount {
		return "service accounts"
	}
	return "people"
}

// checkCounter compares the counter of ids with the highest id of an account.
func (s *Store) checkCounter(ctx context.Context, highest int64) ([]consistency.Inconsistency, error) {
	counter, err := dynamo.Get(ctx, s.client, s.table, Key(counterID))
	if err != nil {
		return nil, fmt.Errorf("read the counter of accounts: %w", err)
	}
	if counter.Int(lastID) >= highest {
		return nil, nil
	}
	return []consistency.Inconsistency{{
		Text: fmt.Sprintf("the counter of account ids is %d, below the account %d: ids would be reused",
			counter.Int(lastID), highest),
		Repair: dynamo.ReplaceAttribute(s.client, s.table, Key(counterID), []string{lastID}, counter[lastID],
			dynamo.N(highest)),
	}}, nil
}
