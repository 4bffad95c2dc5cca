package doctor

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"toggleadmin/pkg/api/eventlog"
	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/platform/dynamo"
)

// Items of the table Users that are no accounts.
const (
	accountCounter = 0  // its attribute lastAccountId is the last id of an account
	accountNumber  = -1 // its attribute serviceAccounts is the number of service accounts
)

// accounts compares the accounts with the counter of their ids, the number of service accounts, and the table
// Identifiers.
func (d *doctor) accounts(ctx context.Context) (string, []inconsistency, error) {
	i := d.Installation
	var found []inconsistency
	identifiers, reserved := map[string]dynamo.Item{}, map[string]int64{}
	for item, err := range dynamo.Scan(ctx, i.Client, i.Tables.Identifiers) {
		if err != nil {
			return "", nil, fmt.Errorf("read the identifiers: %w", err)
		}
		identifiers[item.String("id")], reserved[item.String("id")] = item, item.Int("accountId")
	}
	others := map[int64]dynamo.Item{}
	owners, accounts := map[string][]int64{}, 0
	var deleting []user.User // after their deletion has begun, other accounts can take their identifiers
	var newest user.User     // the account with the highest id
	var services, highest int64
	known := map[int64]bool{}
	for item, err := range dynamo.Scan(ctx, i.Client, i.Tables.Users) {
		if err != nil {
			return "", nil, fmt.Errorf("read the accounts: %w", err)
		}
		u := user.FromItem(item)
		if u.Kind == "" {
			u.Kind = user.Kind(item.String("deleting"))
		}
		if u.Kind == "" {
			others[u.ID] = item
			continue
		}
		accounts++
		highest = max(highest, u.ID)
		if u.Kind == user.ServiceAccount {
			services++
		}
		if known[u.ID] = true; u.ID > newest.ID {
			newest = u
		}
		if item["deleting"] != nil {
			deleting = append(deleting, u)
			continue
		}
		for _, name := range u.Identifiers() {
			owners[name] = append(owners[name], u.ID)
		}
	}
	for _, u := range deleting {
		for _, name := range u.Identifiers() {
			if reserved[name] == u.ID && len(owners[name]) == 0 {
				owners[name] = []int64{u.ID}
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(reserved)) {
		highest = max(highest, reserved[name])
		if len(owners[name]) == 0 {
			attribute := "accountId"
			if identifiers[name][eventlog.AttributeEvent] != nil { // of a link, which can be made again to the same account
				attribute = eventlog.AttributeEvent
			}
			found = append(found, inconsistency{
				text:   fmt.Sprintf("%q is reserved for the account %d, which does not have it", name, reserved[name]),
				repair: d.remove(i.Tables.Identifiers, user.IdentifierKey(name), attribute, identifiers[name][attribute]),
			})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(owners)) {
		id := owners[name][0]
		switch held, ok := reserved[name]; {
		case len(owners[name]) > 1:
			found = append(found, inconsistency{
				text:   fmt.Sprintf("the accounts %d and %d have the same %q", id, owners[name][1], name),
				advice: "delete one of the two accounts",
			})
		case !ok:
			found = append(found, inconsistency{
				text:   fmt.Sprintf("%q of the account %d is not reserved", name, id),
				repair: d.replace(i.Tables.Identifiers, user.IdentifierKey(name), []string{"accountId"}, nil, dynamo.N(id)),
			})
		case held != id:
			found = append(found, inconsistency{
				text:   fmt.Sprintf("%q of the account %d is reserved for the account %d", name, id, held),
				repair: d.replace(i.Tables.Identifiers, user.IdentifierKey(name), []string{"accountId"}, dynamo.N(held), dynamo.N(id)),
			})
		}
	}
	number := others[accountNumber]
	if n := number.Int("serviceAccounts"); n != services {
		found = append(found, inconsistency{
			text: fmt.Sprintf("the number of service accounts is %d, not %d", services, n),
			repair: d.replace(i.Tables.Users, user.Key(accountNumber), []string{"serviceAccounts"}, number["serviceAccounts"],
				dynamo.N(services)),
		})
	}
	created, err := d.eventsSince(ctx, newest.Subject(), eventlog.UserCreated, eventlog.ServiceAccountCreated,
		eventlog.UserDeleted, eventlog.ServiceAccountDeleted)
	if err != nil {
		return "", nil, err
	}
	var lost []string // accounts that a restored table does not have
	for _, e := range created {
		id, err := idOf(e)
		if err != nil {
			return "", nil, err
		}
		highest = max(highest, id)
		if account := string(e.Subject); e.Data != nil && !known[id] {
			lost = append(lost, account)
		} else if e.Data == nil {
			lost = slices.DeleteFunc(lost, func(one string) bool { return one == account })
		}
	}
	// after the others, because it only rises
	counter, err := dynamo.Get(ctx, i.Client, i.Tables.Users, user.Key(accountCounter))
	if err != nil {
		return "", nil, fmt.Errorf("read the counter of accounts: %w", err)
	}
	if counter.Int("lastAccountId") < highest {
		found = append(found, inconsistency{
			text: fmt.Sprintf("the counter of account ids is %d, below the account %d: ids would be reused",
				counter.Int("lastAccountId"), highest),
			repair: d.replace(i.Tables.Users, user.Key(accountCounter), []string{"lastAccountId"}, counter["lastAccountId"],
				dynamo.N(highest)),
		})
	}
	summary := fmt.Sprintf("%d, consistent with their identifiers, their number and the counter of ids", accounts)
	if lost != nil {
		summary += "; the event log has accounts that do not exist: " + list(lost)
	}
	return summary, found, nil
}
