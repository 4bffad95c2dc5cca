package compiler

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"toggleadmin/pkg/api/environment"
	"toggleadmin/pkg/api/featuretable"
	"toggleadmin/pkg/api/segmenttable"
	"toggleadmin/pkg/delivery/snapshot"
	"toggleadmin/pkg/delivery/snapshottable"
	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/pkg/toggle"
)

// Compiler compiles and publishes snapshots. It is safe for concurrent use, also by several processes.
type Compiler struct {
	// Function is the name of the Lambda function, the dimension of metrics. Without a name there are none.
	Function string
	// Limit is that of what is delivered of an environment.
	Limit snapshot.Limit

	client       *dynamodb.Client
	snapshots    string // the names of tables
	features     string
	segments     string
	environments *environment.Store
	now          func() time.Time
	random       io.Reader
	logger       *slog.Logger
}

// New returns a Compiler. It reads the tables Features, Segments and Environments, and writes the table Snapshots.
func New(
	client *dynamodb.Client, tables dynamo.Tables, now func() time.Time, random io.Reader, logger *slog.Logger,
) *Compiler {
	return &Compiler{
		Limit:        snapshot.MaxBody,
		client:       client,
		snapshots:    tables[snapshottable.Table],
		features:     tables[featuretable.Table],
		segments:     tables[segmenttable.Table],
		environments: environment.NewStore(client, tables, nil),
		now:          now,
		random:       random,
		logger:       logger,
	}
}

// putParts writes the parts of a snapshot. They need no condition: their keys are random.
func (c *Compiler) putParts(ctx context.Context, parts []dynamo.Item) error {
	for _, part := range parts {
		if _, err := c.client.PutItem(ctx, &dynamodb.PutItemInput{TableName: &c.snapshots, Item: part}); err != nil {
			return fmt.Errorf("write a part of the snapshot: %w", err)
		}
	}
	return nil
}

// movePointer replaces a pointer. It returns false if the pointer was written since it was read.
func (c *Compiler) movePointer(ctx context.Context, from, to snapshottable.Pointer) (moved bool, err error) {
	condition := expression.Name(snapshottable.AttributeEnvironment).AttributeNotExists()
	if from.Epoch != "" {
		condition = isUnchanged(from)
	}
	to.Revision++
	expr := dynamo.Build(expression.NewBuilder().WithCondition(condition))
	_, err = c.client.PutItem(ctx, &dynamodb.PutItemInput{
		TableName:                 &c.snapshots,
		Item:                      snapshottable.MarshalPointer(to),
		ConditionExpression:       expr.Condition(),
		ExpressionAttributeNames:  expr.Names(),
		ExpressionAttributeValues: expr.Values(),
	})
	if dynamo.FailedCondition(err) {
		return false, nil
	}
	return err == nil, err
}

// isUnchanged is the condition that a pointer was not written since it was read.
func isUnchanged(p snapshottable.Pointer) expression.ConditionBuilder {
	return expression.Name(snapshottable.AttributeEpoch).Equal(expression.Value(p.Epoch)).
		And(expression.Name(snapshottable.AttributeRevision).Equal(expression.Value(p.Revision)))
}

// environmentNames returns the names of all environments.
func (c *Compiler) environmentNames(ctx context.Context) ([]string, error) {
	all, err := c.environments.List(ctx)
	return namesOf(all), err
}

func namesOf(all []environment.Environment) []string {
	names := make([]string, len(all))
	for i, e := range all {
		names[i] = e.Name
	}
	return names
}

// pointers returns the pointers of environments that can be read, by name.
func (c *Compiler) pointers(ctx context.Context, names []string) (map[string]snapshottable.Pointer, error) {
	var keys []dynamo.Item
	for _, name := range names {
		keys = append(keys, snapshottable.PointerKey(name))
	}
	items, err := dynamo.GetAll(ctx, c.client, c.snapshots, keys)
	if err != nil {
		return nil, fmt.Errorf("read the pointers to snapshots: %w", err)
	}
	pointers := map[string]snapshottable.Pointer{}
	for _, item := range items {
		if p, err := snapshottable.UnmarshalPointer(item); err == nil {
			pointers[p.Environment] = p
		} // otherwise the compilation of this environment, and of no other one, fails with the error
	}
	return pointers, nil
}

// cover records that the snapshot of a pointer covers all events before a time. It does nothing if the pointer was
// written since it was read.
func (c *Compiler) cover(ctx context.Context, p snapshottable.Pointer, until time.Time) error {
	covering := p
	covering.Covers = until
	_, err := c.movePointer(ctx, p, covering)
	return err
}

// deleteUnused deletes the parts of replaced snapshots, and all items of environments that do not exist, if they were
// written an hour ago. Each compilation has parts of its own, so that a part that no pointer has used by then is not used
// later, and its deletion needs no condition.
func (c *Compiler) deleteUnused(ctx context.Context, names []string) error {
	pointers, err := c.pointers(ctx, names)
	if err != nil {
		return err
	}
	before := c.now().Add(-keepParts)
	gone := map[string]bool{} // environments that do not exist, and whether they have no pointer
	for item, err := range dynamo.Scan(ctx, c.client, c.snapshots) {
		if err != nil {
			return fmt.Errorf("list the parts of snapshots: %w", err)
		}
		name := item.String(snapshottable.AttributeEnvironment)
		p, exists := pointers[name]
		if _, known := gone[name]; !exists && !known {
			if gone[name], err = c.deletePointer(ctx, name, before); err != nil {
				return fmt.Errorf("delete the pointer to the snapshot of the environment %q: %w", name, err)
			}
		}
		isUnused := gone[name] || exists && !snapshottable.BelongsTo(item, p)
		if !isUnused || snapshottable.IsPointer(item) || !snapshottable.WrittenBefore(item, before) {
			continue
		}
		key := dynamo.Item{
			snapshottable.AttributeEnvironment: item[snapshottable.AttributeEnvironment],
			snapshottable.AttributeItem:        item[snapshottable.AttributeItem],
		}
		if _, err := c.client.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: &c.snapshots, Key: key}); err != nil {
			return fmt.Errorf("delete a part of a snapshot: %w", err)
		}
	}
	return nil
}

// deletePointer deletes the pointer of an environment that does not exist, if its snapshot was published before a time.
// It reports whether there is no pointer afterwards. The environment can have been created again.
func (c *Compiler) deletePointer(ctx context.Context, environment string, before time.Time) (gone bool, err error) {
	p, exists, err := snapshottable.ReadPointer(ctx, c.client, c.snapshots, environment)
	if err != nil || !exists || !p.CompiledAt.Before(before) {
		return err == nil && !exists, err
	}
	expr := dynamo.Build(expression.NewBuilder().WithCondition(isUnchanged(p)))
	_, err = c.client.DeleteItem(ctx, &dynamodb.DeleteItemInput{
		TableName:                 &c.snapshots,
		Key:                       snapshottable.PointerKey(environment),
		ConditionExpression:       expr.Condition(),
		ExpressionAttributeNames:  expr.Names(),
		ExpressionAttributeValues: expr.Values(),
	})
	if dynamo.FailedCondition(err) {
		return false, nil
	}
	return err == nil, err
}

// read reads what has changed, or everything.
func (c *Compiler) read(ctx context.Context, next *compilation, changed change) error {
	if !changed.all {
		return c.readChanged(ctx, next, changed)
	}
	stored, err := c.readContents(ctx)
	if err != nil {
		return err
	}
	next.putAll(stored)
	return nil
}

// readContents reads all toggles and segments. Toggles are read first: a segment that a toggle used when it was read can
// only be deleted after the toggle has changed, which is another event.
func (c *Compiler) readContents(ctx context.Context) (contents, error) {
	rows, err := featuretable.Scan(ctx, c.client, c.features, func(r featuretable.Row) bool { return !r.Toggle.Archived })
	if err != nil {
		return contents{}, err
	}
	var segments []dynamo.Item
	for item, err := range dynamo.Scan(ctx, c.client, c.segments) {
		if err != nil {
			return contents{}, fmt.Errorf("list segments: %w", err)
		}
		if segmenttable.IsSegment(item) {
			segments = append(segments, item)
		}
	}
	return newContents(rows, segments), nil
}

// readChanged starts with the previous document, and reads again what has changed: toggles, their children, whose
// dependencies can name variants that the toggle has again, and segments.
func (c *Compiler) readChanged(ctx context.Context, next *compilation, changed change) error {
	for _, f := range next.previous.Features {
		next.features[f.Name] = f
	}
	maps.Copy(next.segments, next.previous.SegmentsByID())
	all, err := c.readFeatures(ctx, next, slices.Sorted(maps.Keys(changed.features)), map[string]toggle.Feature{})
	if err != nil {
		return err
	}
	children := map[string]bool{}
	for _, f := range all {
		for _, child := range f.Children {
			children[child] = true
		}
	}
	if all, err = c.readFeatures(ctx, next, slices.Sorted(maps.Keys(children)), all); err != nil {
		return err
	}
	for _, f := range all {
		next.put(f)
	}
	return c.readSegments(ctx, next, changed.segments)
}

// readFeatures adds toggles to those that were read before. It removes toggles that do not exist from the compilation.
func (c *Compiler) readFeatures(
	ctx context.Context, next *compilation, names []string, read map[string]toggle.Feature,
) (map[string]toggle.Feature, error) {
	var keys []dynamo.Item
	missing := map[string]bool{}
	for _, name := range names {
		if _, ok := read[name]; !ok {
			keys = append(keys, featuretable.Key(name))
			missing[name] = true
		}
	}
	if len(keys) == 0 {
		return read, nil
	}
	items, err := dynamo.GetAll(ctx, c.client, c.features, keys)
	if err != nil {
		return nil, fmt.Errorf("read toggles: %w", err)
	}
	for _, item := range items {
		row := featuretable.UnmarshalRow(item)
		delete(missing, row.Toggle.Name)
		f, err := row.Feature()
		if err != nil {
			next.keep(row.Toggle.Name, err)
			continue
		}
		read[f.Name] = f
	}
	for name := range missing {
		delete(next.features, name)
	}
	return read, nil
}

// readSegments reads segments that have changed, and those that a toggle uses and the previous document does not have.
func (c *Compiler) readSegments(ctx context.Context, next *compilation, changed map[int64]bool) error {
	ids := maps.Clone(changed)
	for _, f := range next.features {
		for _, id := range snapshot.SegmentsOf(f) {
			if _, ok := next.segments[id]; !ok {
				ids[id] = true
			}
		}
	}
	if len(ids) == 0 {
		return nil
	}
	var keys []dynamo.Item
	for _, id := range slices.Sorted(maps.Keys(ids)) {
		keys = append(keys, segmenttable.Key(id))
		delete(next.segments, id)
	}
	items, err := dynamo.GetAll(ctx, c.client, c.segments, keys)
	if err != nil {
		return fmt.Errorf("read segments: %w", err)
	}
	next.putSegments(items)
	return nil
}
