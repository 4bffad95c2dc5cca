package contextfield

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/api/featuretable"
	"toggleadmin/pkg/api/segmenttable"
	"toggleadmin/pkg/api/usage"
	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/dynamo"
)

// Table is the logical id of the table.
const Table = "ContextFields"

// Store keeps the fields in the table ContextFields: one item with each field, one with its usage, and one with the
// version of all fields. It is safe for concurrent use.
type Store struct {
	client   *dynamodb.Client
	table    string
	features string // for checkLoss
	segments string // for checkLoss
	usage    usage.Table
	log      *eventlog.Log
}

// NewStore returns a Store on the table ContextFields that records its changes in log, which can be nil if the Store
// only reads.
func NewStore(client *dynamodb.Client, tables dynamo.Tables, log *eventlog.Log) *Store {
	return &Store{
		client:   client,
		table:    tables[Table],
		features: tables[featuretable.Table],
		segments: tables[segmenttable.Table],
		usage:    UsageTable(client, tables),
		log:      log,
	}
}

// UsageTable returns the usage of fields by their names.
func UsageTable(client *dynamodb.Client, tables dynamo.Tables) usage.Table {
	return usage.NewTable(client, tables[Table], hash)
}

// hash is the table's partition key: the name of a field, or another key, which contains a #. A name has no #.
const hash = "name"

// itemKey is the key of an item.
type itemKey struct {
	Name string `dynamodbav:"name"`
}

// record is the item of a field, without its usage.
type record struct {
	itemKey
	Description *string            `dynamodbav:"description,omitempty"`
	Stickiness  bool               `dynamodbav:"stickiness"`
	SortOrder   int64              `dynamodbav:"sortOrder"`
	LegalValues []legalValueRecord `dynamodbav:"legalValues,omitempty"`
	CreatedAt   *time.Time         `dynamodbav:"createdAt,omitempty"`
	LastEvent   int64              `dynamodbav:"event,omitempty"`
}

// legalValueRecord is a legal value in the item of a field.
type legalValueRecord struct {
	Value       string  `dynamodbav:"value"`
	Description *string `dynamodbav:"description,omitempty"`
}

func key(name string) dynamo.Item { return dynamo.Marshal(itemKey{name}) }

// IsField reports whether an item of the table is that of a field.
func IsField(item dynamo.Item) bool { return !strings.Contains(item.String(hash), "#") }

// The names of the actions of a transaction. Each field has an item with its properties and one with its usage.
const (
	actionField   = "field"
	actionUsage   = "usage"
	actionVersion = "version"
	actionMarker  = "marker" // of a deleted field with the name
	actionEvent   = "event"
)

// List returns all fields, ordered by sort order, then by name in code point order. It is one consistent Scan per MB.
func (s *Store) List(ctx context.Context) ([]ContextField, error) {
	var all []ContextField
	used := map[string]usage.Usage{}
	for item, err := range dynamo.Scan(ctx, s.client, s.table) {
		if err != nil {
			return nil, fmt.Errorf("list context fields: %w", err)
		}
		if IsField(item) {
			f, err := fromItem(item)
			if err != nil {
				return nil, fmt.Errorf("list context fields: %w", err)
			}
			all = append(all, f)
			continue
		}
		if name, ok := s.usage.ResourceOf(item); ok {
			used[name], _ = usage.FromItem(item)
		}
	}
	for i := range all {
		all[i].Usage = used[all[i].Name]
	}
	slices.SortFunc(all, func(a, b ContextField) int {
		return cmp.Or(cmp.Compare(a.SortOrder, b.SortOrder), cmp.Compare(a.Name, b.Name))
	})
	return all, nil
}

// Get returns one field. The kind of its error is NotFound if there is none. It is one consistent read of two items.
func (s *Store) Get(ctx context.Context, name string) (ContextField, error) {
	items, err := dynamo.GetAll(ctx, s.client, s.table, []dynamo.Item{key(name), s.usage.Key(name)})
	if err != nil {
		return ContextField{}, fmt.Errorf("get context field %q: %w", name, err)
	}
	var f ContextField
	var used usage.Usage
	for _, item := range items {
		if counts, ok := usage.FromItem(item); ok {
			used = counts
		} else if IsField(item) {
			if f, err = fromItem(item); err != nil {
				return ContextField{}, fmt.Errorf("get context field %q: %w", name, err)
			}
		}
	}
	if f.Name == "" {
		return ContextField{}, fmt.Errorf("get context field %q: %w", name, notFound(name))
	}
	f.Usage = used
	return f, nil
}

// Named returns the fields with some names that exist, by name, without their usage. The read is consistent.
func (s *Store) Named(ctx context.Context, names []string) (map[string]ContextField, error) {
	keys := make([]dynamo.Item, len(names))
	for i, name := range names {
		keys[i] = key(name)
	}
	items, err := dynamo.GetAll(ctx, s.client, s.table, keys)
	if err != nil {
		return nil, fmt.Errorf("get %d context fields: %w", len(names), err)
	}
	all := map[string]ContextField{}
	for _, item := range items {
		f, err := fromItem(item)
		if err != nil {
			return nil, err
		}
		if IsField(item) {
			all[f.Name] = f
		}
	}
	return all, nil
}

// Unchanged returns the condition, in a transaction that writes a constraint on a field, that the field has not changed
// since it was read.
func (s *Store) Unchanged(f ContextField) types.TransactWriteItem {
	expr := dynamo.Build(expression.NewBuilder().WithCondition(eventlog.ExistsWithLast(hash, f.LastEvent)))
	return types.TransactWriteItem{ConditionCheck: &types.ConditionCheck{
		TableName:                 &s.table,
		Key:                       key(f.Name),
		ConditionExpression:       expr.Condition(),
		ExpressionAttributeNames:  expr.Names(),
		ExpressionAttributeValues: expr.Values(),
	}}
}

// Create adds an unused field and returns it as it is stored. The kind of its error is, in this order, ContentTooLarge or
// NoAccess if the field or the list of all fields would be too large, and NameExists. It reads all fields and writes one transaction, repeated if a field is changed concurrently.
func (s *Store) Create(ctx context.Context, f ContextField) (ContextField, error) {
	f.LastEvent = 0
	var created ContextField
	var actions *dynamo.Actions
	err := s.log.RetryTransact(ctx, func() ([]types.TransactWriteItem, error) {
		all, version, err := s.read(ctx)
		if err != nil {
			return nil, err
		}
		created = f.placed(all)
		if err := checkSizes(all, -1, created); err != nil {
			return nil, err
		}
		if indexOf(all, f.Name) >= 0 {
			return nil, apierror.Errorf(apierror.NameExists, "A context field with the name %q exists.",
				apierror.Echo(f.Name))
		}
		actions = &dynamo.Actions{}
		if err := s.create(ctx, actions, &created); err != nil {
			return nil, err
		}
		actions.Add(actionVersion, s.nextVersionAfter(version))
		return actions.List(), nil
	}, func(failures []dynamo.Failure) error {
		// A process whose clock is ahead can have deleted a field with this name.
		f.LastEvent = max(f.LastEvent, eventlog.LastInMarker(actions.Failed(failures)[actionMarker]))
		return nil
	})
	if err != nil {
		return ContextField{}, fmt.Errorf("create context field %q: %w", f.Name, err)
	}
	return created, nil
}

// CreateActions returns the actions of a transaction that creates unused fields and records them. They fail if a field
// exists.
func (s *Store) CreateActions(ctx context.Context, fields ...ContextField) ([]types.TransactWriteItem, error) {
	var actions dynamo.Actions
	for _, f := range fields {
		if err := s.create(ctx, &actions, &f); err != nil {
			return nil, err
		}
	}
	actions.Add(actionVersion, s.nextVersion())
	return actions.List(), nil
}

// create adds the actions that create an unused field and record it, and sets f.LastEvent, which is the id of the last
// event of a deleted field with the name.
func (s *Store) create(ctx context.Context, actions *dynamo.Actions, f *ContextField) error {
	id, record, err := s.log.RecordActions(ctx, f.change(eventlog.ContextFieldCreated, f.snapshot(), nil))
	if err != nil {
		return err
	}
	f.LastEvent, f.Usage = id, usage.Usage{}
	actions.Add(actionField, dynamo.NewItem(s.table, hash, toItem(*f)))
	actions.Add(actionUsage, s.usage.Create(f.Name))
	actions.Add(actionMarker, s.log.CheckMarkerActions(f.subject(), id)...)
	actions.Add(actionEvent, record...)
	return nil
}

// Replace replaces everything but the name, the time of creation and the usage of a field. It returns the stored field.
// Its error is, in this order, of the kind NotFound, that of the precondition, of the kinds ContentTooLarge or NoAccess if
// the field or the list of all fields would be too large, or of the kind Conflict if strategies or segments use a legal
// value or the stickiness that the field loses. precondition receives the field that is replaced. Replace reads all
// fields, all toggles and segments if the field loses something, and writes one transaction, repeated if one of them is
// changed concurrently. If nothing changes, it only reads.
func (s *Store) Replace(ctx context.Context, f ContextField, precondition func(ContextField) error) (
	next ContextField, err error,
) {
	err = s.log.RetryTransact(ctx, func() ([]types.TransactWriteItem, error) {
		all, version, err := s.read(ctx)
		if err != nil {
			return nil, err
		}
		i := indexOf(all, f.Name)
		if i < 0 {
			return nil, notFound(f.Name)
		}
		old := all[i]
		if err := precondition(old); err != nil {
			return nil, err
		}
		next = f.placed(all)
		next.CreatedAt, next.Usage, next.LastEvent = old.CreatedAt, old.Usage, old.LastEvent
		if reflect.DeepEqual(old.snapshot(), next.snapshot()) {
			return nil, nil
		}
		if err := checkSizes(all, i, next); err != nil {
			return nil, err
		}
		var unchangedUse []types.TransactWriteItem
		if lost := lossOf(old, next, false); lost != nil {
			if err := s.checkLoss(ctx, lost); err != nil {
				return nil, err
			}
			unchangedUse = append(unchangedUse, s.usage.SameVersion(f.Name, old.Usage))
		}
		id, record, err := s.log.RecordActions(ctx, old.change(eventlog.ContextFieldUpdated, next.snapshot(), old.snapshot()))
		if err != nil {
			return nil, err
		}
		next.LastEvent = id
		expr := dynamo.Build(expression.NewBuilder().WithCondition(eventlog.ExistsWithLast(hash, old.LastEvent)))
		replacement := types.TransactWriteItem{Put: &types.Put{
			TableName:                 &s.table,
			Item:                      toItem(next),
			ConditionExpression:       expr.Condition(),
			ExpressionAttributeNames:  expr.Names(),
			ExpressionAttributeValues: expr.Values(),
		}}
		return slices.Concat([]types.TransactWriteItem{replacement, s.nextVersionAfter(version)}, unchangedUse, record), nil
	}, nil)
	if err != nil {
		return ContextField{}, fmt.Errorf("replace context field %q: %w", f.Name, err)
	}
	return next, nil
}

// Delete deletes a field that no toggle and no segment uses. The kind of its error is NotFound, or Conflict if one uses
// the field. It is one consistent read and one transaction, repeated if the field or its usage was changed in between. If
// the field has stickiness, it also reads all toggles and segments.
func (s *Store) Delete(ctx context.Context, name string) error {
	return s.DeleteIf(ctx, name, func(ContextField) error { return nil })
}

// DeleteIf is Delete for a field for which precondition returns nil. Otherwise it returns the error of precondition.
func (s *Store) DeleteIf(ctx context.Context, name string, precondition func(ContextField) error) error {
	err := s.log.RetryTransact(ctx, func() ([]types.TransactWriteItem, error) {
		f, err := s.Get(ctx, name)
		if err != nil {
			return nil, err
		}
		if err := precondition(f); err != nil {
			return nil, err
		}
		if toggles, segments := f.Usage.Toggles(), f.Usage.Segments; toggles+segments > 0 {
			return nil, apierror.Errorf(apierror.Conflict,
				"The context field %q is in use. The number of toggles with a constraint on it, without archived ones, is %d, "+
					"and the number of segments is %d.", apierror.Echo(name), toggles, segments)
		}
		if lost := lossOf(f, f, true); lost != nil {
			if err := s.checkLoss(ctx, lost); err != nil {
				return nil, err
			}
		}
		id, record, err := s.log.RecordActions(ctx, f.change(eventlog.ContextFieldDeleted, nil, f.snapshot()))
		if err != nil {
			return nil, err
		}
		expr := dynamo.Build(expression.NewBuilder().WithCondition(eventlog.ExistsWithLast(hash, f.LastEvent)))
		deletion := types.TransactWriteItem{Delete: &types.Delete{
			TableName:                 &s.table,
			Key:                       key(name),
			ConditionExpression:       expr.Condition(),
			ExpressionAttributeNames:  expr.Names(),
			ExpressionAttributeValues: expr.Values(),
		}}
		return slices.Concat(
			[]types.TransactWriteItem{deletion, s.usage.Delete(name, f.Usage), s.nextVersion()},
			s.log.PutMarkerActions(f.subject(), id),
			record,
		), nil
	}, nil)
	if err != nil {
		return fmt.Errorf("delete context field %q: %w", name, err)
	}
	return nil
}

const (
	// versionKey is the key of the item with the version of all fields. Every write of a field changes the version. The
	// default sort order of a field and the size of the list depend on all fields, so the transaction of a creation or
	// replacement has the condition that the version has not changed since all fields were read.
	versionKey       = "#version"
	attributeVersion = "version"
)

// read returns all fields and their version.
func (s *Store) read(ctx context.Context) (all []ContextField, version int64, err error) {
	item, err := dynamo.Get(ctx, s.client, s.table, key(versionKey)) // first, because the Scan is not a snapshot
	if err != nil {
		return nil, 0, fmt.Errorf("read the version of the context fields: %w", err)
	}
	all, err = s.List(ctx)
	return all, item.Int(attributeVersion), err
}

// nextVersion returns the action that changes the version of all fields.
func (s *Store) nextVersion() types.TransactWriteItem {
	return s.changeVersion(expression.NewBuilder())
}

// nextVersionAfter is nextVersion, but the action fails unless this is the version; 0: none is stored.
func (s *Store) nextVersionAfter(version int64) types.TransactWriteItem {
	stored := expression.Name(attributeVersion)
	condition := stored.AttributeNotExists()
	if version != 0 {
		condition = stored.Equal(expression.Value(version))
	}
	return s.changeVersion(expression.NewBuilder().WithCondition(condition))
}

func (s *Store) changeVersion(builder expression.Builder) types.TransactWriteItem {
	expr := dynamo.Build(builder.WithUpdate(expression.Add(expression.Name(attributeVersion), expression.Value(1))))
	return types.TransactWriteItem{Update: &types.Update{
		TableName:                 &s.table,
		Key:                       key(versionKey),
		UpdateExpression:          expr.Update(),
		ConditionExpression:       expr.Condition(),
		ExpressionAttributeNames:  expr.Names(),
		ExpressionAttributeValues: expr.Values(),
	}}
}

func indexOf(fields []ContextField, name string) int {
	return slices.IndexFunc(fields, func(f ContextField) bool { return f.Name == name })
}

// placed returns the field with its sort order among all fields: if it is to be the last one, the highest sort order of
// the others plus 1, at most 2147483647, or 0 if there are no others.
func (f ContextField) placed(all []ContextField) ContextField {
	if !f.Last {
		return f
	}
	f.Last, f.SortOrder = false, 0
	for _, other := range slices.Backward(all) { // ordered by sort order
		if other.Name != f.Name {
			f.SortOrder = min(other.SortOrder+1, math.MaxInt32)
			break
		}
	}
	return f
}

// toItem returns the item of a field without its usage.
func toItem(f ContextField) dynamo.Item {
	stored := record{
		itemKey:     itemKey{f.Name},
		Description: f.Description,
		Stickiness:  f.Stickiness,
		SortOrder:   f.SortOrder,
		CreatedAt:   f.CreatedAt,
		LastEvent:   f.LastEvent,
	}
	for _, v := range f.LegalValues {
		stored.LegalValues = append(stored.LegalValues, legalValueRecord(v))
	}
	return dynamo.Marshal(stored)
}

// fromItem returns a field without its usage.
func fromItem(item dynamo.Item) (ContextField, error) {
	var stored record
	if err := dynamo.Unmarshal(item, &stored); err != nil {
		return ContextField{}, err
	}
	f := ContextField{
		Name:        stored.Name,
		Description: stored.Description,
		Stickiness:  stored.Stickiness,
		SortOrder:   stored.SortOrder,
		CreatedAt:   stored.CreatedAt,
		LastEvent:   stored.LastEvent,
	}
	for _, v := range stored.LegalValues {
		f.LegalValues = append(f.LegalValues, LegalValue(v))
	}
	return f, nil
}
