package snapshottable

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"toggleadmin/pkg/delivery/snapshot"
	"toggleadmin/pkg/platform/dynamo"
)

// ReadPointer returns the pointer of an environment. It is one consistent read. It returns false if there is none.
func ReadPointer(ctx context.Context, client *dynamodb.Client, table, environment string) (Pointer, bool, error) {
	item, err := dynamo.Get(ctx, client, table, PointerKey(environment))
	if err != nil || item == nil {
		return Pointer{}, false, err
	}
	p, err := UnmarshalPointer(item)
	return p, err == nil, err
}

// Current reads the pointer of an environment and its snapshot. It reads again if another snapshot replaces the one that
// it reads. It returns false if the environment has no pointer. Its error is ErrUnreadable if the current snapshot cannot
// be read; the pointer is returned, too.
func Current(ctx context.Context, client *dynamodb.Client, table, environment string) (
	p Pointer, s snapshot.Snapshot, exists bool, err error,
) {
	var damage error // of the snapshot of p
	for {
		next, exists, err := ReadPointer(ctx, client, table, environment)
		if err != nil || !exists {
			return Pointer{}, snapshot.Snapshot{}, false, err
		}
		if damage != nil && next.Epoch == p.Epoch && next.Version == p.Version {
			return p, snapshot.Snapshot{}, true, damage
		}
		p = next
		s, err = Load(ctx, client, table, p)
		if !errors.Is(err, ErrUnreadable) {
			return p, s, true, err
		}
		damage = err
	}
}

// Load reads the snapshot of a pointer. Its error is ErrUnreadable as that of UnmarshalParts.
func Load(ctx context.Context, client *dynamodb.Client, table string, p Pointer) (snapshot.Snapshot, error) {
	if p.Format != Format { // the number of parts can mean something else
		return UnmarshalParts(p, nil)
	}
	keys := make([]dynamo.Item, p.Parts+p.TagParts)
	for i := range keys {
		keys[i] = dynamo.Marshal(key{p.Environment, partName(p.Epoch, p.Version, p.PartsID, i)})
	}
	items, err := dynamo.GetAll(ctx, client, table, keys)
	if err != nil {
		return snapshot.Snapshot{}, fmt.Errorf("read the snapshot %d of the environment %q: %w",
			p.Version, p.Environment, err)
	}
	return UnmarshalParts(p, items)
}
