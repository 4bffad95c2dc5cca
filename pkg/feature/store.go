package feature

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/dynamo"
	"toggleadmin/pkg/event"
	"toggleadmin/pkg/featuretype"
)

const (
	attributeStaleness = "staleness" // the partition key of the staleness index
	attributeFlag      = "potentiallyStale"
)

// Store stores toggles in DynamoDB. It is safe for concurrent use.
type Store struct {
	client        *dynamodb.Client
	features      string
	contextFields string

	types *featuretype.Store // nil: flags that are cleared are not announced
	now   func() time.Time
}

// NewStore returns a store on the tables Features and ContextFields. Its writes announce nothing.
func NewStore(client *dynamodb.Client, tables dynamo.Tables) *Store {
	return &Store{client: client, features: tables.Features, contextFields: tables.ContextFields}
}

// Announcing returns a store whose writes also store the announcement of a flag that they clear. It reads the table FeatureTypes.
func (s *Store) Announcing(types *featuretype.Store, now func() time.Time) *Store {
	announcing := *s
	announcing.types, announcing.now = types, now
	return &announcing
}

// key returns the key of a toggle or a context field.
func key(name string) dynamo.Item { return dynamo.Item{"name": dynamo.S(name)} }

// Get reads a toggle. It may return ErrNotFound.
func (s *Store) Get(ctx context.Context, name string) (Feature, error) {
	item, err := s.read(ctx, name)
	if err != nil {
		return Feature{}, err
	}
	return fromItem(item), nil
}

func (s *Store) read(ctx context.Context, name string) (dynamo.Item, error) {
	item, err := dynamo.Get(ctx, s.client, s.features, key(name))
	if err != nil {
		return nil, fmt.Errorf("get toggle %q: %w", name, err)
	}
	if item == nil || isDetached(item) {
		return nil, ErrNotFound
	}
	return item, nil
}

// List reads all toggles, ordered by name (code points), with a consistent Scan per MB. It is for operators; the service finds toggles by
// the index.
func (s *Store) List(ctx context.Context) ([]Feature, error) {
	var all []Feature
	for item, err := range dynamo.Scan(ctx, s.client, s.features) {
		if err != nil {
			return nil, fmt.Errorf("list toggles: %w", err)
		}
		if !isDetached(item) {
			all = append(all, fromItem(item))
		}
	}
	slices.SortFunc(all, func(a, b Feature) int { return cmp.Compare(a.Name, b.Name) })
	return all, nil
}

// Create adds a toggle without the flag. It may return ErrExists or ErrUnknownContextField.
func (s *Store) Create(ctx context.Context, f Feature) error {
	f = f.normalized()
	f.PotentiallyStale = false
	actions := append([]types.TransactWriteItem{dynamo.NewItem(s.features, "name", toItem(f))}, s.usage(Feature{}, f)...)
	failures, err := dynamo.Transact(ctx, s.client, actions)
	if err != nil {
		return fmt.Errorf("create toggle %q: %w", f.Name, err)
	}
	if failures == nil {
		return nil
	}
	if failures[0].Failed {
		return ErrExists
	}
	return unknownContextField(actions, failures)
}

// Update changes a toggle. change receives the current toggle and returns the new one; changes of its name, time of creation and flag are
// ignored. If the toggle is changed concurrently, change is called again. A change of the type, of Archived or of Stale clears the flag.
// Update may return ErrNotFound or ErrUnknownContextField.
func (s *Store) Update(ctx context.Context, name string, change func(Feature) Feature) (Feature, error) {
	next, err := s.write(ctx, name, func(item dynamo.Item) (Feature, []types.TransactWriteItem, error) {
		old := fromItem(item)
		next := change(old)
		next.Name, next.CreatedAt, next.PotentiallyStale = old.Name, old.CreatedAt, old.PotentiallyStale && old.clearsFlag(next) == ""
		next = next.normalized()
		update, err := s.update(ctx, item, old, next)
		return next, []types.TransactWriteItem{{Update: update}}, err
	})
	if err != nil {
		return Feature{}, fmt.Errorf("update toggle %q: %w", name, err)
	}
	return next, nil
}

// Delete deletes a toggle and its usage of context fields. Announcements that are not sent yet remain, in an item that is not a toggle.
// Delete may return ErrNotFound.
func (s *Store) Delete(ctx context.Context, name string) error {
	_, err := s.write(ctx, name, func(item dynamo.Item) (Feature, []types.TransactWriteItem, error) {
		old := fromItem(item)
		attributes := changeable
		if s.types != nil || len(item.List(attributePending)) > 0 {
			attributes = slices.Concat(changeable, []string{attributeFlag, attributeSequence})
		}
		condition, names, values := unchanged(item, attributes)
		actions := []types.TransactWriteItem{{Delete: &types.Delete{
			TableName: &s.features, Key: key(name),
			ConditionExpression: &condition, ExpressionAttributeNames: names, ExpressionAttributeValues: values,
		}}}
		if s.types != nil && old.PotentiallyStale {
			a, err := s.cleared(ctx, old, event.Deleted)
			if err != nil {
				return Feature{}, nil, err
			}
			item = a.appended(item)
		}
		if len(item.List(attributePending)) > 0 {
			actions = append(actions, putDetached(s.features, item))
		}
		return Feature{}, actions, nil
	})
	if err != nil {
		return fmt.Errorf("delete toggle %q: %w", name, err)
	}
	return nil
}

// write changes or deletes a toggle and updates the usage of context fields, in one transaction. plan receives the toggle's item and returns
// the new toggle and the actions. The first action is on the item and must have a condition made by unchanged. If it fails, because of a
// concurrent write, plan is called again.
func (s *Store) write(
	ctx context.Context, name string, plan func(item dynamo.Item) (Feature, []types.TransactWriteItem, error),
) (Feature, error) {
	for attempt := 1; ; attempt++ {
		item, err := s.read(ctx, name)
		if err != nil {
			return Feature{}, err
		}
		next, actions, err := plan(item)
		if err != nil {
			return Feature{}, err
		}
		actions = append(actions, s.usage(fromItem(item), next)...)
		failures, err := dynamo.Transact(ctx, s.client, actions)
		if err != nil {
			return Feature{}, err
		}
		if failures == nil {
			return next, nil
		}
		if !failures[0].Failed {
			return Feature{}, unknownContextField(actions, failures)
		}
		if err := dynamo.Pause(ctx, attempt); err != nil {
			return Feature{}, err
		}
	}
}

// changeable are the attributes that Update can change. Re-evaluation may change the flag at any time, so it is not one of them.
var changeable = []string{"project", "type", "archived", "stale", "contextFields"}

// unchanged returns the condition that the stored toggle has the given attributes of item.
func unchanged(item dynamo.Item, attributes []string) (condition string, names map[string]string, values dynamo.Item) {
	names, values = map[string]string{}, dynamo.Item{}
	conditions := make([]string, len(attributes))
	for i, attribute := range attributes {
		names["#"+attribute] = attribute
		if value, ok := item[attribute]; ok {
			values[":old_"+attribute] = value
			conditions[i] = "#" + attribute + " = :old_" + attribute
		} else { // sequence, before the first announcement
			conditions[i] = "attribute_not_exists(#" + attribute + ")"
		}
	}
	return strings.Join(conditions, " AND "), names, values
}

// update returns the update of an item from old to next. It writes the flag and the index key only if the change clears the flag.
func (s *Store) update(ctx context.Context, item dynamo.Item, old, next Feature) (*types.Update, error) {
	compared, written, reason := changeable, changeable, old.clearsFlag(next)
	if reason != "" {
		written = slices.Concat(changeable, []string{attributeFlag, attributeStaleness})
	}
	if reason != "" && s.types != nil { // it is announced only if it was set
		compared = slices.Concat(changeable, []string{attributeFlag})
	}
	condition, names, values := unchanged(item, compared)
	wanted, remove := toItem(next), ""
	var set []string
	for _, attribute := range written {
		names["#"+attribute] = attribute
		if value, ok := wanted[attribute]; ok {
			values[":"+attribute] = value
			set = append(set, "#"+attribute+" = :"+attribute)
		} else { // the index key of a toggle that cannot become stale
			remove = " REMOVE #" + attribute
		}
	}
	if reason != "" && s.types != nil && old.PotentiallyStale {
		a, err := s.cleared(ctx, next, reason)
		if err != nil {
			return nil, err
		}
		set = append(set, a.update(old.Name, names, values)...)
	}
	return &types.Update{
		TableName: &s.features, Key: key(old.Name), UpdateExpression: aws.String("SET " + strings.Join(set, ", ") + remove),
		ConditionExpression: &condition, ExpressionAttributeNames: names, ExpressionAttributeValues: values,
	}, nil
}

// cleared returns the announcement that the flag of a toggle was cleared.
func (s *Store) cleared(ctx context.Context, f Feature, reason event.Reason) (announcement, error) {
	t, err := s.types.Get(ctx, f.Type)
	if err != nil && !errors.Is(err, featuretype.ErrNotFound) {
		return announcement{}, err
	}
	return announcement{reason: reason, featureType: f.Type, lifetimeDays: t.LifetimeDays, at: s.now()}, nil
}

// usage returns the actions that update the usage of context fields (project → number of toggles) after a change from old to next, ordered
// by field. A project that does not use a field any more keeps the number 0.
func (s *Store) usage(old, next Feature) []types.TransactWriteItem {
	changes := map[string]map[string]int64{} // by field, then project
	for _, field := range slices.Concat(old.usedFields(), next.usedFields()) {
		changes[field] = map[string]int64{}
	}
	for _, field := range old.usedFields() {
		changes[field][old.Project]--
	}
	for _, field := range next.usedFields() {
		changes[field][next.Project]++
	}
	var actions []types.TransactWriteItem
	for _, field := range slices.Sorted(maps.Keys(changes)) {
		projects := changes[field]
		names, values := map[string]string{"#name": "name", "#usage": "usage"}, dynamo.Item{":zero": dynamo.N(0)}
		var set []string
		for _, project := range slices.Sorted(maps.Keys(projects)) {
			if change := projects[project]; change != 0 {
				n := strconv.Itoa(len(set))
				names["#p"+n], values[":p"+n] = project, dynamo.N(change)
				set = append(set, "#usage.#p"+n+" = if_not_exists(#usage.#p"+n+", :zero) + :p"+n)
			}
		}
		if set != nil {
			actions = append(actions, types.TransactWriteItem{Update: &types.Update{
				TableName: &s.contextFields, Key: key(field), UpdateExpression: aws.String("SET " + strings.Join(set, ", ")),
				ConditionExpression: aws.String("attribute_exists(#name)"), ExpressionAttributeNames: names, ExpressionAttributeValues: values,
			}})
		}
	}
	return actions
}

// unknownContextField returns the error for a failed action of usage. It names the field.
func unknownContextField(actions []types.TransactWriteItem, failures []dynamo.Failure) error {
	i := slices.IndexFunc(failures, func(f dynamo.Failure) bool { return f.Failed })
	return fmt.Errorf("%w: %q", ErrUnknownContextField, dynamo.Item(actions[i].Update.Key).String("name"))
}

func toItem(f Feature) dynamo.Item {
	item := dynamo.Item{
		"name": dynamo.S(f.Name), "project": dynamo.S(f.Project), "type": dynamo.S(f.Type), "createdAt": dynamo.Time(f.CreatedAt),
		"archived": dynamo.Bool(f.Archived), "stale": dynamo.Bool(f.Stale), "potentiallyStale": dynamo.Bool(f.PotentiallyStale),
		"contextFields": dynamo.Strings(f.ContextFields),
	}
	if f.canBecomeStale() {
		item[attributeStaleness] = dynamo.S(StalenessKey(f.Type, f.PotentiallyStale, Shard(f.Name)))
	}
	return item
}

func fromItem(item dynamo.Item) Feature {
	f := Feature{
		Name: item.String("name"), Project: item.String("project"), Type: item.String("type"), Archived: item.Bool("archived"),
		Stale: item.Bool("stale"), PotentiallyStale: item.Bool("potentiallyStale"), ContextFields: item.Strings("contextFields"),
	}
	if t := item.Time("createdAt"); t != nil {
		f.CreatedAt = *t
	}
	return f
}
