package feature

import (
	"context"
	"fmt"
	"maps"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/apierror"
	"toggleadmin/pkg/dynamo"
)

// The attribute that is the staleness index's partition key.
const attributeStaleness = "staleness"

// Store keeps the toggles in DynamoDB. It is safe for concurrent use.
type Store struct {
	client        *dynamodb.Client
	features      string
	contextFields string
}

// NewStore makes a store on the tables Features and ContextFields.
func NewStore(client *dynamodb.Client, tables dynamo.Tables) *Store {
	return &Store{client, tables.Features, tables.ContextFields}
}

func key(name string) dynamo.Item { return dynamo.Item{"name": dynamo.S(name)} }

// Get reads a toggle, or gives ErrNotFound.
func (s *Store) Get(ctx context.Context, name string) (Feature, error) {
	item, err := dynamo.Get(ctx, s.client, s.features, key(name))
	switch {
	case err != nil:
		return Feature{}, fmt.Errorf("get toggle %q: %w", name, err)
	case item == nil:
		return Feature{}, ErrNotFound
	}
	return featureOf(item), nil
}

// Create adds a toggle, not flagged, or gives ErrExists or ErrUnknownContextField.
func (s *Store) Create(ctx context.Context, f Feature) error {
	f = f.stored()
	f.PotentiallyStale = false
	actions := []types.TransactWriteItem{{Put: &types.Put{
		TableName: &s.features, Item: itemOf(f),
		ConditionExpression:      aws.String("attribute_not_exists(#name)"),
		ExpressionAttributeNames: map[string]string{"#name": "name"},
	}}}
	failures, err := dynamo.Transact(ctx, s.client, append(actions, s.usage(Feature{}, f)...))
	switch {
	case err != nil:
		return fmt.Errorf("create toggle %q: %w", f.Name, err)
	case failures == nil:
		return nil
	case failures[0].Failed:
		return ErrExists
	}
	return ErrUnknownContextField
}

// Update changes a toggle: change gets it as it is and gives it as it shall be; name, time of creation and flag are not its to change.
// The write is repeated when another came between. It gives ErrNotFound or ErrUnknownContextField. A change of type, archiving,
// restoring, marking as stale and undoing it clear the flag; any other change leaves it as it is.
func (s *Store) Update(ctx context.Context, name string, change func(Feature) Feature) (Feature, error) {
	for attempt := 1; ; attempt++ {
		old, err := s.Get(ctx, name)
		if err != nil {
			return Feature{}, err
		}
		next := change(old)
		next.Name, next.CreatedAt, next.PotentiallyStale = old.Name, old.CreatedAt, old.PotentiallyStale
		next = next.stored()
		if old.resets(next) {
			next.PotentiallyStale = false
		}
		failures, err := dynamo.Transact(ctx, s.client, append([]types.TransactWriteItem{{Update: s.update(old, next)}}, s.usage(old, next)...))
		switch {
		case err != nil:
			return Feature{}, fmt.Errorf("update toggle %q: %w", name, err)
		case failures == nil:
			return next, nil
		case !failures[0].Failed:
			return Feature{}, ErrUnknownContextField
		}
		if err := dynamo.Pause(ctx, attempt); err != nil {
			return Feature{}, apierror.NewUnavailable(fmt.Errorf("update toggle %q: lost every race: %w", name, err))
		}
	}
}

// unchanged is the condition that a toggle is still old in all that a write here decides on. The flag is not among it: re-evaluation may
// flip it at any time.
func unchanged(old Feature) (condition string, names map[string]string, values dynamo.Item) {
	return "#project = :oldProject AND #type = :oldType AND #archived = :oldArchived AND #stale = :oldStale AND #fields = :oldFields",
		map[string]string{
			"#project": "project", "#type": "type", "#archived": "archived", "#stale": "stale", "#fields": "contextFields",
		},
		dynamo.Item{
			":oldProject": dynamo.S(old.Project), ":oldType": dynamo.S(old.Type),
			":oldArchived": dynamo.Bool(old.Archived), ":oldStale": dynamo.Bool(old.Stale), ":oldFields": dynamo.Strings(old.ContextFields),
		}
}

// update writes next where the toggle is unchanged. A write that keeps the flag does not touch it.
func (s *Store) update(old, next Feature) *types.Update {
	condition, names, values := unchanged(old)
	u := &types.Update{
		TableName: &s.features, Key: key(old.Name),
		ConditionExpression: &condition, ExpressionAttributeNames: names, ExpressionAttributeValues: values,
	}
	maps.Copy(values, dynamo.Item{
		":project": dynamo.S(next.Project), ":type": dynamo.S(next.Type),
		":archived": dynamo.Bool(next.Archived), ":stale": dynamo.Bool(next.Stale), ":fields": dynamo.Strings(next.ContextFields),
	})
	expression := "SET #project = :project, #type = :type, #archived = :archived, #stale = :stale, #fields = :fields"
	if old.resets(next) {
		names["#flag"], names["#staleness"] = "potentiallyStale", attributeStaleness
		u.ExpressionAttributeValues[":flag"] = dynamo.Bool(false)
		expression += ", #flag = :flag"
		if next.indexed() {
			u.ExpressionAttributeValues[":staleness"] = dynamo.S(StalenessKey(next.Type, false, Shard(next.Name)))
			expression += ", #staleness = :staleness"
		} else {
			expression += " REMOVE #staleness"
		}
	}
	u.UpdateExpression = &expression
	return u
}

func itemOf(f Feature) dynamo.Item {
	item := dynamo.Item{
		"name": dynamo.S(f.Name), "project": dynamo.S(f.Project), "type": dynamo.S(f.Type), "createdAt": dynamo.Time(f.CreatedAt),
		"archived": dynamo.Bool(f.Archived), "stale": dynamo.Bool(f.Stale), "potentiallyStale": dynamo.Bool(f.PotentiallyStale),
		"contextFields": dynamo.Strings(f.ContextFields),
	}
	if f.indexed() {
		item[attributeStaleness] = dynamo.S(StalenessKey(f.Type, f.PotentiallyStale, Shard(f.Name)))
	}
	return item
}

func featureOf(item dynamo.Item) Feature {
	f := Feature{
		Name: item.String("name"), Project: item.String("project"), Type: item.String("type"), Archived: item.Bool("archived"),
		Stale: item.Bool("stale"), PotentiallyStale: item.Bool("potentiallyStale"), ContextFields: item.Strings("contextFields"),
	}
	if t := item.Time("createdAt"); t != nil {
		f.CreatedAt = *t
	}
	return f
}
