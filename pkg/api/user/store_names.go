package user

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/pkg/platform/spelling"
)

// Names reads the names of accounts. Events, toggles and segments contain only ids, so that they have no personal data,
// and each reader gets the current name. It is safe for concurrent use.
type Names struct {
	client *dynamodb.Client
	table  string
}

// namedBy are the attributes that Names reads.
var namedBy = []string{hash, attributeKind, "name", "username"} //nolint:gochecknoglobals // never changed

// NewNames returns the names in the table Users.
func NewNames(client *dynamodb.Client, tables dynamo.Tables) *Names {
	return &Names{client, tables[Table]}
}

// Of returns the names of accounts by their ids: the username of a service account, or the name of a person. An account
// that does not exist has the name "deleted user 7". It is one consistent BatchGetItem per 100 accounts.
func (n *Names) Of(ctx context.Context, ids []int64) (map[int64]string, error) {
	names := map[int64]string{}
	for _, id := range ids {
		names[id] = deletedName(Person, id)
	}
	existing, err := n.existing(ctx, ids)
	maps.Copy(names, existing)
	return names, err
}

// deletedName returns what readers get instead of the name of an account that does not exist.
func deletedName(kind Kind, id int64) string {
	return fmt.Sprintf("deleted %s %d", strings.ReplaceAll(string(kind), "-", " "), id)
}

// existing is Of without accounts that do not exist.
func (n *Names) existing(ctx context.Context, ids []int64) (map[int64]string, error) {
	var keys []dynamo.Item
	for _, id := range slices.Compact(slices.Sorted(slices.Values(ids))) {
		keys = append(keys, Key(id))
	}
	items, err := dynamo.GetAll(ctx, n.client, n.table, keys, namedBy...)
	if err != nil {
		return nil, fmt.Errorf("read the names of accounts: %w", err)
	}
	return namesOf(items)
}

func namesOf(items []dynamo.Item) (map[int64]string, error) {
	names := map[int64]string{}
	for _, item := range items {
		if !isAccount(item) {
			continue
		}
		u, err := FromItem(item)
		if err != nil {
			return nil, fmt.Errorf("read the names of accounts: %w", err)
		}
		names[u.ID] = u.RecordedName()
	}
	return names, nil
}

// IsPerson reports whether an id is that of a person.
func (n *Names) IsPerson(ctx context.Context, id int64) (bool, error) {
	items, err := dynamo.GetAll(ctx, n.client, n.table, []dynamo.Item{Key(id)}, namedBy...)
	if err != nil {
		return false, fmt.Errorf("read the account %d: %w", id, err)
	}
	return len(items) > 0 && items[0].String(attributeKind) == string(Person), nil
}

// Containing returns the ids of accounts whose names contain a text, in any letter case. It is one consistent Scan per
// MB.
func (n *Names) Containing(ctx context.Context, text string) ([]int64, error) {
	var items []dynamo.Item
	for item, err := range dynamo.ScanSegment(ctx, n.client, n.table, 0, 1, namedBy...) {
		if err != nil {
			return nil, fmt.Errorf("read the names of accounts: %w", err)
		}
		items = append(items, item)
	}
	names, err := namesOf(items)
	maps.DeleteFunc(names, func(_ int64, name string) bool { return !spelling.Contains(name, text) })
	return slices.Sorted(maps.Keys(names)), err
}

// Fill sets the names of the accounts that made changes, and of the people whom the events are about.
func (n *Names) Fill(ctx context.Context, events []eventlog.Event) error {
	var ids []int64
	for _, e := range events {
		if e.By.UserID != 0 {
			ids = append(ids, e.By.UserID)
		}
		if id, ok := e.Subject.Person(); ok {
			ids = append(ids, id)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	names, err := n.existing(ctx, ids)
	if err != nil {
		return err
	}
	for i := range events {
		e := &events[i]
		if id := e.By.UserID; id != 0 {
			kind := Person
			if e.By.IsServiceAccount {
				kind = ServiceAccount
			}
			if e.By.Name = names[id]; e.By.Name == "" {
				e.By.Name = deletedName(kind, id)
			}
		}
		if id, ok := e.Subject.Person(); ok {
			e.SubjectName = names[id]
		}
	}
	return nil
}
