package feature

import (
	"context"
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/api/contextfield"
	"toggleadmin/pkg/api/featuretype"
	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/pkg/toggle"
)

const (
	attributeStaleness = "staleness" // the partition key of the staleness index
	attributeFlag      = "potentiallyStale"
	attributeCreator   = "createdBy" // the name
	attributeCreatorID = "createdById"
)

// Table is the logical id of the table.
const Table = "Features"

// Store stores toggles in DynamoDB and records every change. It is safe for concurrent use.
type Store struct {
	client   *dynamodb.Client
	features string
	fields   *contextfield.Store
	types    *featuretype.Store
	log      *eventlog.Log
	limit    int64  // of the number of toggles; 0: none
	project  string // of the toggles that it finds by name; empty: all
}

// NewStore returns a store on the tables Features, ContextFields and FeatureTypes that records its changes in log. log
// can be nil if the store only reads.
func NewStore(client *dynamodb.Client, tables dynamo.Tables, log *eventlog.Log) *Store {
	return &Store{
		client:   client,
		features: tables[Table],
		fields:   contextfield.NewStore(client, tables, log),
		types:    featuretype.NewStore(client, tables, log),
		log:      log,
	}
}

// InProject returns a copy of the store that finds only toggles of a project by their names.
func (s *Store) InProject(project string) *Store {
	scoped := *s
	scoped.project = project
	return &scoped
}

// key returns the key of a toggle.
func key(name string) dynamo.Item { return dynamo.Item{"name": dynamo.S(name)} }

// Get reads a toggle. The kind of its error is NotFound if there is none.
func (s *Store) Get(ctx context.Context, name string) (toggle.Feature, error) {
	item, err := dynamo.Get(ctx, s.client, s.features, key(name))
	if err != nil {
		return toggle.Feature{}, fmt.Errorf("get toggle %q: %w", name, err)
	}
	if item == nil {
		return toggle.Feature{}, notFound(s.project, name)
	}
	f := fromItem(item)
	if err := s.requireProject(f); err != nil {
		return toggle.Feature{}, err
	}
	return f, nil
}

// requireProject returns an error, as if the toggle did not exist, if it belongs to another project than InProject.
func (s *Store) requireProject(f toggle.Feature) error {
	if s.project == "" || s.project == f.Project {
		return nil
	}
	return notFound(s.project, f.Name)
}

// List reads all toggles, ordered by name (code points), with a consistent parallel Scan.
func (s *Store) List(ctx context.Context) ([]toggle.Feature, error) {
	all, err := s.scan(ctx, func(toggle.Feature) bool { return true })
	slices.SortFunc(all, byName)
	return all, err
}

// Type reads the type of a toggle. found is false if it does not exist; it has no lifetime then.
func (s *Store) Type(ctx context.Context, id string) (t toggle.Type, found bool, err error) {
	t, err = s.types.Get(ctx, id)
	if apierror.KindOf(err) == apierror.NotFound {
		return toggle.Type{ID: id}, false, nil
	}
	return t, err == nil, err
}

// Create adds a toggle. The kind of its error is NameExists if the name is taken, and Conflict if the toggle uses a
// context field that does not exist.
func (s *Store) Create(ctx context.Context, f toggle.Feature) error {
	_, err := s.Add(ctx, f)
	return err
}

// Add is Create, and returns the toggle as it is stored.
func (s *Store) Add(ctx context.Context, f toggle.Feature) (toggle.Feature, error) {
	f.PotentiallyStale, f.LastEvent = false, 0
	s.stampArchived(toggle.Feature{}, &f)
	last := int64(0) // the id of the last event of a deleted toggle with the same name
	var t *transaction
	err := s.log.RetryTransact(ctx, func() ([]types.TransactWriteItem, error) {
		t = s.transaction()
		if err := t.add(ctx, toggle.Feature{LastEvent: last}, f.Normalized()); err != nil {
			return nil, err
		}
		return t.make(ctx)
	}, func(failures []dynamo.Failure) error {
		failed := t.actions.Failed(failures)
		if failed[actionToggle].Failed {
			return apierror.Errorf(apierror.NameExists, "A toggle with the name %q exists.", apierror.Echo(f.Name))
		}
		last = max(last, eventlog.LastInMarker(failed[actionMarker]))
		return t.unknownContextField(failures)
	})
	if err != nil {
		return toggle.Feature{}, fmt.Errorf("create toggle %q: %w", f.Name, err)
	}
	return t.edits[0].next, nil
}

// Change receives the current toggle and returns the new one, or an error. Changes of the name, of the time and the
// author of the creation, and of the flag are ignored.
type Change func(toggle.Feature) (toggle.Feature, error)

// Update changes a toggle. It returns an error of change. If the toggle is changed concurrently, change is called
// again. A change of the type, of Archived or of Stale decides the flag again. An update that changes nothing writes
// nothing. The kind of its error is NotFound, or Conflict if the toggle uses a context field that does not exist.
func (s *Store) Update(ctx context.Context, name string, change Change) (toggle.Feature, error) {
	all, err := s.UpdateAll(ctx, []string{name}, change)
	if err != nil {
		return toggle.Feature{}, err
	}
	return all[0], nil
}

// UpdateAll is Update for at most 50 toggles with different names, in one transaction: all of them are changed, or
// none.
//
// A transaction has at most 100 actions. If the flags of too many toggles change too, separate transactions make these
// flips: they clear flags before the change, and decide the others after it. If the process ends in between,
// re-evaluation sets the flags. Each toggle takes one action and one for each of its events, and each context field
// whose usage changes takes one. If this is too much, UpdateAll changes nothing and returns ErrTooManyChanges.
func (s *Store) UpdateAll(ctx context.Context, names []string, change Change) ([]toggle.Feature, error) {
	t, err := s.write(ctx, names, func(t *transaction, old toggle.Feature) error {
		next, err := change(old)
		if err != nil {
			return err
		}
		next.Name, next.CreatedAt, next.CreatedBy = old.Name, old.CreatedAt, old.CreatedBy
		s.stampArchived(old, &next)
		return t.add(ctx, old, next.Normalized())
	})
	if err != nil {
		return nil, fmt.Errorf("update %s: %w", describe(names), err)
	}
	for some := range slices.Chunk(t.flagLater, maxActions/3) {
		_, err := s.write(ctx, some, func(t *transaction, old toggle.Feature) error { return t.reevaluate(ctx, old) })
		// If one was deleted, re-evaluation sets the flags of the others.
		if err != nil && apierror.KindOf(err) != apierror.NotFound {
			return nil, fmt.Errorf("re-evaluate %s: %w", describe(some), err)
		}
	}
	all := make([]toggle.Feature, len(t.edits))
	for i, e := range t.edits {
		all[i] = e.next
	}
	return all, nil
}

func describe(names []string) string {
	if len(names) == 1 {
		return fmt.Sprintf("toggle %q", names[0])
	}
	return fmt.Sprintf("%d toggles", len(names))
}

// stampArchived sets the time at which a toggle is archived, unless the change sets it.
func (s *Store) stampArchived(old toggle.Feature, next *toggle.Feature) {
	if !old.Archived && next.Archived && next.ArchivedAt == nil {
		next.ArchivedAt = new(s.log.Now())
	}
}

// RemoveCreatorName replaces the name of a person, as the creator of toggles, with the subject of the person's events.
// It is not recorded. A toggle that is written at the same time can keep the name; a repeated call corrects it.
func (s *Store) RemoveCreatorName(ctx context.Context, userID int64) error {
	name := string(eventlog.PersonSubject(userID))
	all, err := s.scan(ctx, func(f toggle.Feature) bool {
		return f.CreatedBy != nil && f.CreatedBy.ID == userID && f.CreatedBy.Name != name
	})
	for _, f := range all {
		_, err := s.client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
			TableName: &s.features, Key: key(f.Name),
			ConditionExpression: aws.String("#id = :id"), UpdateExpression: aws.String("SET #name = :name"),
			ExpressionAttributeNames:  map[string]string{"#id": attributeCreatorID, "#name": attributeCreator},
			ExpressionAttributeValues: dynamo.Item{":id": dynamo.N(userID), ":name": dynamo.S(name)},
		})
		if err != nil && !dynamo.FailedCondition(err) {
			return fmt.Errorf("remove the name of the creator of toggle %q: %w", f.Name, err)
		}
	}
	return err
}

// Delete deletes a toggle and its usage of context fields. The kind of its error is NotFound if there is none.
func (s *Store) Delete(ctx context.Context, name string) error {
	return s.DeleteIf(ctx, name, func(toggle.Feature) error { return nil })
}

// DeleteIf is Delete for a toggle for which permitted returns nil. Otherwise it returns the error of permitted.
func (s *Store) DeleteIf(ctx context.Context, name string, permitted func(toggle.Feature) error) error {
	_, err := s.write(ctx, []string{name}, func(t *transaction, old toggle.Feature) error {
		if err := permitted(old); err != nil {
			return err
		}
		return t.remove(ctx, old)
	})
	if err != nil {
		return fmt.Errorf("delete toggle %q: %w", name, err)
	}
	return nil
}

// write reads toggles, and carries out the transaction to which plan adds a change of each. It begins again if one of
// them, or what the transaction depends on, is changed concurrently, and after a transaction that split returned.
// Without a change it writes nothing.
func (s *Store) write(
	ctx context.Context, names []string, plan func(*transaction, toggle.Feature) error,
) (whole *transaction, err error) {
	for whole == nil && err == nil {
		var t *transaction
		err = s.log.RetryTransact(ctx, func() ([]types.TransactWriteItem, error) {
			all, err := s.read(ctx, names)
			if err != nil {
				return nil, err
			}
			t = s.transaction()
			for _, f := range all {
				if err := plan(t, f); err != nil {
					return nil, err
				}
			}
			before, err := t.split()
			if err != nil {
				return nil, err
			}
			whole = t
			if before != nil {
				t, whole = before, nil
			}
			return t.make(ctx)
		}, func(failures []dynamo.Failure) error { return t.unknownContextField(failures) })
	}
	return whole, err
}

// read reads toggles, in the order of their names, which are different. The kind of its error is NotFound
// if one does not exist.
func (s *Store) read(ctx context.Context, names []string) ([]toggle.Feature, error) {
	if len(names) == 1 {
		f, err := s.Get(ctx, names[0])
		return []toggle.Feature{f}, err
	}
	found, err := s.named(ctx, names)
	if err != nil {
		return nil, fmt.Errorf("read %d toggles: %w", len(names), err)
	}
	all := make([]toggle.Feature, len(names))
	for _, f := range found {
		all[slices.Index(names, f.Name)] = f
	}
	if missing := slices.IndexFunc(all, func(f toggle.Feature) bool { return f.Name == "" }); missing >= 0 {
		return nil, notFound(s.project, names[missing])
	}
	for _, f := range all {
		if err := s.requireProject(f); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// named reads the toggles that exist, in any order.
func (s *Store) named(ctx context.Context, names []string) (all []toggle.Feature, err error) {
	keys := make([]dynamo.Item, len(names))
	for i, name := range names {
		keys[i] = key(name)
	}
	items, err := dynamo.GetAll(ctx, s.client, s.features, keys)
	for _, item := range items {
		all = append(all, fromItem(item))
	}
	return all, err
}

func toItem(f toggle.Feature) dynamo.Item {
	item := dynamo.Item{
		"name": dynamo.S(f.Name), "project": dynamo.S(f.Project), "type": dynamo.S(f.Type),
		"createdAt": dynamo.Time(f.CreatedAt),
		"archived":  dynamo.Bool(f.Archived), "stale": dynamo.Bool(f.Stale),
		"potentiallyStale": dynamo.Bool(f.PotentiallyStale),
		"contextFields":    dynamo.Strings(f.ContextFields),
	}
	if f.LastEvent != 0 {
		item[eventlog.AttributeEvent] = dynamo.N(f.LastEvent)
	}
	if f.Description != nil {
		item["description"] = dynamo.S(*f.Description)
	}
	if f.ImpressionData {
		item["impressionData"] = dynamo.Bool(true)
	}
	if f.CreatedBy != nil {
		item[attributeCreatorID], item[attributeCreator] = dynamo.N(f.CreatedBy.ID), dynamo.S(f.CreatedBy.Name)
	}
	if f.ArchivedAt != nil {
		item["archivedAt"] = dynamo.Time(*f.ArchivedAt)
	}
	if f.CanBecomeStale() {
		item[attributeStaleness] = dynamo.S(StalenessKey(f.Type, f.PotentiallyStale, Shard(f.Name)))
	}
	return item
}

func fromItem(item dynamo.Item) toggle.Feature {
	f := toggle.Feature{
		Name: item.String("name"), Project: item.String("project"), Type: item.String("type"),
		Archived: item.Bool("archived"),
		Stale:    item.Bool("stale"), PotentiallyStale: item.Bool("potentiallyStale"),
		ContextFields:  item.Strings("contextFields"),
		ImpressionData: item.Bool("impressionData"), ArchivedAt: item.Time("archivedAt"),
		LastEvent: item.Int(eventlog.AttributeEvent),
	}
	if _, ok := item["description"]; ok {
		f.Description = new(item.String("description"))
	}
	if _, ok := item[attributeCreator]; ok {
		f.CreatedBy = &toggle.Creator{ID: item.Int(attributeCreatorID), Name: item.String(attributeCreator)}
	}
	if t := item.Time("createdAt"); t != nil {
		f.CreatedAt = *t
	}
	return f
}
