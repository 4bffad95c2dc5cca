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

	"toggleadmin/pkg/api/environment"
	"toggleadmin/pkg/api/featuretable"
	"toggleadmin/pkg/api/pat"
	"toggleadmin/pkg/api/segment"
	"toggleadmin/pkg/api/segmenttable"
	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/delivery/snapshottable"
	"toggleadmin/pkg/operator/exitstatus"
	"toggleadmin/pkg/platform/dynamo"
)

// Restored is what Restore changed in a table: numbers of items.
type Restored struct {
	Table   string `json:"table"` // the logical id
	Written int    `json:"written"`
	Deleted int    `json:"deleted"`
}

// restorers is the number of items that Restore writes at a time.
const restorers = 8

// Restore makes the items of a table, named by its logical id, those of another one, such as the table that a
// point-in-time recovery has created. It keeps counters of ids, which only rise, and never changes or deletes events:
// it adds those that the table lacks. It can be repeated. Afterwards, other tables may be inconsistent with this one.
//
// After a table from which snapshots are compiled, or the table of snapshots, it deletes the pointers to snapshots. The
// next sweep compiles snapshots of a new epoch, which applications accept although their versions begin again at 1.
func (i *Installation) Restore(ctx context.Context, id, source string, now time.Time) (Restored, error) {
	table := i.Tables[id]
	keys, err := i.sameKeys(ctx, table, source)
	if err != nil {
		return Restored{}, err
	}
	key := func(item dynamo.Item) dynamo.Item {
		k := dynamo.Item{}
		for _, name := range keys {
			k[name] = item[name]
		}
		return k
	}
	current := map[string]dynamo.Item{} // items that are not in the source, by key
	for item, err := range dynamo.Scan(ctx, i.Client, table) {
		if err != nil {
			return Restored{}, fmt.Errorf("read the table %s: %w", table, err)
		}
		current[text(key(item), keys)] = item
	}
	w := newWriter()
	result := Restored{Table: id}
	for item, err := range dynamo.Scan(ctx, i.Client, source) {
		if err != nil {
			return Restored{}, errors.Join(fmt.Errorf("read the table %s: %w", source, err), w.end())
		}
		k := text(key(item), keys)
		old := current[k]
		delete(current, k)
		// time to live
		expired := item["expiresAt"] != nil && item.String("expiresAt") == "" && item.Int("expiresAt") <= now.Unix()
		if expired || old != nil && (id == "Events" || isCounter(id, key(item)) || reflect.DeepEqual(old, item)) {
			continue
		}
		result.Written++
		// No condition: the operator decided to replace the item with the one of the source.
		w.calls <- func() error {
			_, err := i.Client.PutItem(ctx, &dynamodb.PutItemInput{TableName: &table, Item: item})
			return err
		}
	}
	for _, k := range slices.Sorted(maps.Keys(current)) {
		k := key(current[k])
		if id == "Events" || isCounter(id, k) {
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
	if slices.Contains([]string{featuretable.Table, segmenttable.Table, environment.Table, snapshottable.Table}, id) {
		if err := i.deletePointers(ctx); err != nil {
			return Restored{}, fmt.Errorf("end the epoch of the snapshots: %w", err)
		}
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
	case "Users":
		return user.IsCounter(key)
	case "PersonalAccessTokens":
		return pat.IsCounter(key)
	case "Segments":
		return segment.IsCounter(key)
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
