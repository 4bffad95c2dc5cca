package installation

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/api/apitoken"
	"toggleadmin/pkg/api/clienttoken"
	"toggleadmin/pkg/api/group"
	"toggleadmin/pkg/api/pat"
	"toggleadmin/pkg/api/project"
	"toggleadmin/pkg/api/role"
	"toggleadmin/pkg/api/segment"
	"toggleadmin/pkg/api/segmenttable"
	"toggleadmin/pkg/api/trust"
	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/delivery/clienttokentable"
	"toggleadmin/pkg/delivery/snapshottable"
	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/operator/exitstatus"
	"toggleadmin/pkg/platform/accesstable"
	"toggleadmin/pkg/platform/dynamo"
)

// Restored is what Restore changed in a table.
type Restored struct {
	Table   string `json:"table"` // the logical id
	Written int    `json:"written"`
	Deleted int    `json:"deleted"`
	// Withdrawn are the accounts, tokens, groups, roles and projects that stay as they are, because rights were withdrawn
	// from them, or in them, later.
	Withdrawn []eventlog.Subject `json:"withdrawn"`
}

// restorers is the number of items that Restore writes at a time.
const restorers = 8

// Restore makes the items of all tables those of their copies, which point-in-time recoveries to the same second have
// created. The name of a copy is prefix and the logical id of its table. Restore writes nothing if a copy is missing. It
// calls report after each table. If it fails, it can be repeated. It keeps
//
//   - counters of ids, which only rise,
//   - events: it adds those that the table lacks,
//   - what ID tokens say about the groups of people,
//   - accounts, tokens, groups, roles and projects from which, or in which, rights were withdrawn after that second, as
//     the events say that the copy lacks. A project that was deleted since is restored without members,
//   - snapshots. It deletes the pointers to them. The next sweep compiles snapshots of a new epoch, which applications
//     accept although their versions begin again at 1.
func (i *Installation) Restore(ctx context.Context, prefix string, now func() time.Time, report func(Restored)) error {
	tables := slices.DeleteFunc(slices.Sorted(maps.Keys(i.Tables)),
		func(id string) bool { return id == snapshottable.Table })
	keys := map[string][]string{}
	for _, id := range tables {
		var err error
		if keys[id], err = i.sameKeys(ctx, i.Tables[id], prefix+id); err != nil {
			return err
		}
	}
	withdrawn, err := i.withdrawn(ctx, prefix+eventlog.Table, now)
	if err != nil {
		return err
	}
	for _, id := range tables {
		restored, err := i.restore(ctx, id, prefix+id, keys[id], withdrawn, now())
		if err != nil {
			return err
		}
		report(restored)
	}
	if err := i.deletePointers(ctx); err != nil {
		return fmt.Errorf("end the epoch of the snapshots: %w", err)
	}
	return nil
}

// withdrawals are the types of events that can withdraw rights, and whether one does. nil: each does. deleted are the
// subjects that were deleted.
func withdrawals(deleted map[eventlog.Subject]bool) map[eventlog.Type]func(eventlog.Event) (bool, error) {
	fromProject := func(e eventlog.Event) (bool, error) {
		return project.Withdraws(e, project.Deleted{
			Account: func(id int64) bool {
				return deleted[user.User{ID: id, Kind: user.Person}.Subject()] ||
					deleted[user.User{ID: id, Kind: user.ServiceAccount}.Subject()]
			},
			Group: func(id int64) bool { return deleted[group.Subject(id)] },
		})
	}
	return map[eventlog.Type]func(eventlog.Event) (bool, error){
		eventlog.UserUpdated:                user.Withdraws,
		eventlog.UserDeleted:                nil,
		eventlog.ServiceAccountUpdated:      user.Withdraws,
		eventlog.ServiceAccountDeleted:      nil,
		eventlog.PATDeleted:                 nil,
		eventlog.ServiceAccountTokenDeleted: nil,
		eventlog.ServiceAccountTrustDeleted: nil,
		eventlog.APITokenUpdated:            nil,
		eventlog.APITokenRotated:            nil, // the life of the first secret was changed
		eventlog.APITokenDeleted:            nil,
		eventlog.GroupUpdated:               group.Withdraws,
		eventlog.GroupDeleted:               nil,
		eventlog.RoleUpdated:                role.Withdraws,
		eventlog.ProjectUpdated:             fromProject,
		eventlog.ProjectAccessUpdated:       fromProject,
	}
}

// withdrawn returns the subjects from which, or in which, rights were withdrawn, according to events that a copy of the
// log lacks.
func (i *Installation) withdrawn(
	ctx context.Context, source string, now func() time.Time,
) (map[eventlog.Subject]bool, error) {
	var f eventlog.Filter
	deleted := map[eventlog.Subject]bool{}
	decisions := withdrawals(deleted)
	for t := range decisions {
		f.Types = append(f.Types, string(t))
	}
	copied := map[int64]bool{}
	log := eventlog.New(i.Client, dynamo.Tables{eventlog.Table: source}, now, 0)
	err := eventlog.NewReader(log).All(ctx, f, func(e eventlog.Event) error {
		copied[e.ID] = true
		return nil
	})
	if err != nil {
		return nil, err
	}
	var later []eventlog.Event
	err = i.Events(now).All(ctx, f, func(e eventlog.Event) error {
		if !copied[e.ID] {
			later = append(later, e)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, e := range later {
		switch e.Type { //nolint:exhaustive // the others delete nothing that has roles in projects
		case eventlog.UserDeleted, eventlog.ServiceAccountDeleted, eventlog.GroupDeleted:
			deleted[e.Subject] = true
		}
	}
	all := map[eventlog.Subject]bool{}
	for _, e := range later {
		withdraws := true
		if decide := decisions[e.Type]; decide != nil {
			if withdraws, err = decide(e); err != nil {
				return nil, err
			}
		}
		all[e.Subject] = all[e.Subject] || withdraws
	}
	return all, nil
}

// subjectOf returns the subject of the events about what an item is, if rights can be withdrawn from it, or "".
func subjectOf(table string, item dynamo.Item) (eventlog.Subject, error) {
	switch table {
	case user.Table:
		u, err := user.FromItem(item)
		return u.Subject(), err
	case pat.Table:
		p, err := pat.FromItem(item)
		return p.Subject(), err
	case apitoken.Table:
		t, err := apitoken.FromItem(item)
		return t.Subject(), err
	case clienttokentable.Table:
		if !clienttokentable.IsToken(item) {
			return "", nil
		}
		t, err := clienttokentable.Unmarshal(item)
		return clienttoken.Subject(t), err
	case accesstable.Table:
		return accessSubject(item)
	}
	return "", nil
}

// accessSubject is subjectOf for the table Access.
func accessSubject(item dynamo.Item) (eventlog.Subject, error) {
	switch accesstable.Kind(item.String(accesstable.Hash)) { //nolint:exhaustive // the others give no rights
	case accesstable.KindProject:
		p, err := accesstable.UnmarshalProject(item)
		return project.Subject(p.ID), err
	case accesstable.KindGroup:
		g, err := accesstable.UnmarshalGroup(item)
		return group.Subject(g.ID), err
	case accesstable.KindRole:
		r, err := accesstable.UnmarshalRole(item)
		return role.Subject(r.ID), err
	case accesstable.KindTrust:
		t, err := trust.FromItem(item)
		return t.Subject(), err
	}
	return "", nil
}

// restore makes the items of a table those of its copy.
func (i *Installation) restore(
	ctx context.Context, id, source string, keys []string, withdrawn map[eventlog.Subject]bool, now time.Time,
) (Restored, error) {
	table := i.Tables[id]
	key := func(item dynamo.Item) dynamo.Item {
		k := dynamo.Item{}
		for _, name := range keys {
			k[name] = item[name]
		}
		return k
	}
	current := map[string]dynamo.Item{} // items that are not in the copy, by key
	for item, err := range dynamo.Scan(ctx, i.Client, table) {
		if err != nil {
			return Restored{}, fmt.Errorf("read the table %s: %w", table, err)
		}
		current[text(key(item), keys)] = item
	}
	w := newWriter()
	result := Restored{Table: id, Withdrawn: []eventlog.Subject{}}
	for item, err := range dynamo.Scan(ctx, i.Client, source) {
		if err != nil {
			return Restored{}, errors.Join(fmt.Errorf("read the table %s: %w", source, err), w.end())
		}
		k := text(key(item), keys)
		old := current[k]
		delete(current, k)
		if id == user.Table {
			user.KeepClaim(item, old)
		}
		// time to live
		expired := item["expiresAt"] != nil && item.String("expiresAt") == "" && item.Int("expiresAt") <= now.Unix()
		if expired || old != nil && (id == eventlog.Table || isCounter(id, key(item)) || reflect.DeepEqual(old, item)) {
			continue
		}
		subject, err := subjectOf(id, item)
		if err != nil {
			return Restored{}, errors.Join(fmt.Errorf("read the table %s: %w", source, err), w.end())
		}
		if withdrawn[subject] {
			result.Withdrawn = append(result.Withdrawn, subject)
			if old != nil || !accesstable.IsProject(item) {
				continue
			}
			accesstable.RemoveMembers(item) // toggles need the project, which was deleted since
		}
		result.Written++
		// No condition: the operator decided to replace the item with the one of the copy.
		w.calls <- func() error {
			_, err := i.Client.PutItem(ctx, &dynamodb.PutItemInput{TableName: &table, Item: item})
			return err
		}
	}
	for _, k := range slices.Sorted(maps.Keys(current)) {
		k := key(current[k])
		if id == eventlog.Table || isCounter(id, k) {
			continue
		}
		result.Deleted++
		w.calls <- func() error { // no condition, as above
			_, err := i.Client.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: &table, Key: k})
			return err
		}
	}
	if err := w.end(); err != nil {
		return Restored{}, fmt.Errorf("restore the table %s: %w", id, err)
	}
	return result, nil
}

// deletePointers deletes the pointers to all snapshots. Until the next sweep, applications keep what they have.
func (i *Installation) deletePointers(ctx context.Context) error {
	table := i.Tables[snapshottable.Table]
	for item, err := range dynamo.Scan(ctx, i.Client, table) {
		if err != nil {
			return err
		}
		if !snapshottable.IsPointer(item) {
			continue
		}
		key := snapshottable.PointerKey(item.String(snapshottable.AttributeEnvironment))
		// No condition: a snapshot that was published since the restore began can lack a part of it.
		if _, err := i.Client.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: &table, Key: key}); err != nil {
			return err
		}
	}
	return nil
}

// isCounter reports whether a key of a table, named by its logical id, belongs to a counter of ids.
func isCounter(id string, key dynamo.Item) bool {
	switch id {
	case user.Table:
		return user.IsCounter(key)
	case pat.Table:
		return pat.IsCounter(key)
	case segmenttable.Table:
		return segment.IsCounter(key)
	case accesstable.Table:
		return accesstable.IsCounter(key)
	}
	return false
}

// sameKeys returns the names of the key attributes of two tables, or an error if they differ.
func (i *Installation) sameKeys(ctx context.Context, table, source string) ([]string, error) {
	var names [][]string
	for _, name := range []string{table, source} {
		out, err := i.Client.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: &name})
		if _, missing := errors.AsType[*types.ResourceNotFoundException](err); missing {
			return nil, exitstatus.Errorf(exitstatus.NotFound, "there is no table %s", name)
		}
		if err != nil {
			return nil, fmt.Errorf("describe the table %s: %w", name, err)
		}
		var keys []string
		for _, k := range out.Table.KeySchema {
			keys = append(keys, aws.ToString(k.AttributeName))
		}
		names = append(names, keys)
	}
	if table == source {
		return nil, exitstatus.Errorf(exitstatus.Rejected, "%s is the table itself, not a copy of it", source)
	}
	if !slices.Equal(names[0], names[1]) {
		return nil, exitstatus.Errorf(exitstatus.Rejected, "%s is not a copy of the table %s: its key is %v, not %v",
			source, table, names[1], names[0])
	}
	return names[0], nil
}

// text returns a key as text.
func text(key dynamo.Item, names []string) (all string) {
	for _, name := range names {
		all += fmt.Sprintf("%q %d ", key.String(name), key.Int(name))
	}
	return all
}

// writer makes calls concurrently.
type writer struct {
	calls   chan func() error
	running sync.WaitGroup
	mu      sync.Mutex
	err     error // the first one; the calls after it are not made
}

func newWriter() *writer {
	w := &writer{calls: make(chan func() error)}
	for range restorers {
		w.running.Go(func() {
			for call := range w.calls {
				w.mu.Lock()
				failed := w.err != nil
				w.mu.Unlock()
				if failed {
					continue
				}
				if err := call(); err != nil {
					w.mu.Lock()
					w.err = err
					w.mu.Unlock()
				}
			}
		})
	}
	return w
}

// end waits for all calls and returns an error of one of them.
func (w *writer) end() error {
	close(w.calls)
	w.running.Wait()
	return w.err
}
