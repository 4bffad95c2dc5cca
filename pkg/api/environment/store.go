package environment

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/api/featuretable"
	"toggleadmin/pkg/api/references"
	"toggleadmin/pkg/delivery/clienttokentable"
	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/accesstable"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/dynamo"
)

// Table is the logical id of the table.
const Table = "Environments"

// Store keeps the environments in the table Environments: one item with each environment, one with the references to
// it, and one with the version of all environments. It is safe for concurrent use.
type Store struct {
	client     *dynamodb.Client
	table      string
	features   string // for CountReferences
	tokens     string // the client tokens
	access     *accesstable.Reader
	references references.Store
	version    dynamo.TableVersion
	log        *eventlog.Log
}

// NewStore returns a Store on the table Environments that records its changes in log, which can be nil if the Store
// only reads.
func NewStore(client *dynamodb.Client, tables dynamo.Tables, log *eventlog.Log) *Store {
	return &Store{
		client:     client,
		table:      tables[Table],
		features:   tables[featuretable.Table],
		tokens:     tables[clienttokentable.Table],
		access:     accesstable.NewReader(client, tables),
		references: ReferencesStore(client, tables),
		version:    dynamo.NewTableVersion(client, tables[Table], hash),
		log:        log,
	}
}

// ReferencesStore returns the references to environments by their names: the toggles that are on, the client tokens, and
// the custom roles with permissions in them. An environment has one if and only if it exists and is not marked as
// deleted.
func ReferencesStore(client *dynamodb.Client, tables dynamo.Tables) references.Store {
	return references.NewStore(client, tables[Table], hash)
}

// hash is the table's partition key: the name of an environment, or another key, which contains a #. A name has no #.
const hash = "name"

const attributeDeleted = "deleted" // of an environment whose deletion has not ended

// itemKey is the key of an item.
type itemKey struct {
	Name string `dynamodbav:"name"`
}

// record is the item of an environment, without its references.
type record struct {
	itemKey
	Type      string `dynamodbav:"type"`
	SortOrder int64  `dynamodbav:"sortOrder"`
	LastEvent int64  `dynamodbav:"event,omitempty"`
	Deleted   bool   `dynamodbav:"deleted,omitempty"`

	RequiredApprovals int64          `dynamodbav:"requiredApprovals,omitempty"`
	Freeze            *access.Freeze `dynamodbav:"freeze,omitempty"`
}

func key(name string) dynamo.Item { return dynamo.Marshal(itemKey{name}) }

// isEnvironment reports whether an item of the table is that of an environment, which can be marked as deleted.
func isEnvironment(item dynamo.Item) bool { return !strings.Contains(item.String(hash), "#") }

// exists reports whether an item of the table is that of an environment that exists.
func exists(item dynamo.Item) bool { return isEnvironment(item) && !item.Bool(attributeDeleted) }

// The names of the actions of a transaction.
const (
	actionEnvironment = "environment"
	actionReferences  = "references"
	actionVersion     = "version"
	actionMarker      = "marker" // of a deleted environment with the name
	actionEvent       = "event"
)

// List returns all environments, ordered by sort order, then by name in code point order. It is one consistent Scan.
func (s *Store) List(ctx context.Context) ([]Environment, error) {
	found, err := s.scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("list environments: %w", err)
	}
	return found.all, nil
}

// Unfinished returns the deletions that have not ended. It is one consistent Scan.
func (s *Store) Unfinished(ctx context.Context) ([]Deletion, error) {
	found, err := s.scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("list deletions of environments: %w", err)
	}
	return found.deletions, nil
}

// contents is what the table has.
type contents struct {
	all       []Environment // in the order of List
	deletions []Deletion    // that have not ended
}

func (s *Store) scan(ctx context.Context) (contents, error) {
	var found contents
	used, full := map[string]references.Counts{}, map[string]bool{}
	for item, err := range dynamo.Scan(ctx, s.client, s.table) {
		if err != nil {
			return contents{}, err
		}
		if name, ok := s.references.ResourceOf(item); ok {
			used[name], _ = references.FromItem(item)
			full[name] = item.Bool(attributeFull)
			continue
		}
		if !isEnvironment(item) {
			continue
		}
		e, deleted, err := fromItem(item)
		switch {
		case err != nil:
			return contents{}, err
		case deleted:
			found.deletions = append(found.deletions, Deletion{e.Name, e.LastEvent})
		default:
			found.all = append(found.all, e)
		}
	}
	for i := range found.all {
		name := found.all[i].Name
		found.all[i].References, found.all[i].Full = used[name], full[name]
	}
	slices.SortFunc(found.all, func(a, b Environment) int {
		return cmp.Or(cmp.Compare(a.SortOrder, b.SortOrder), cmp.Compare(a.Name, b.Name))
	})
	return found, nil
}

// Get returns one environment without its references. The kind of its error is NotFound if there is none. It is one
// consistent read.
func (s *Store) Get(ctx context.Context, name string) (Environment, error) {
	item, err := dynamo.Get(ctx, s.client, s.table, key(name))
	if err != nil {
		return Environment{}, fmt.Errorf("get environment %q: %w", name, err)
	}
	if item == nil || !isEnvironment(item) {
		return Environment{}, NotFound(name)
	}
	e, deleted, err := fromItem(item)
	if err == nil && deleted {
		err = NotFound(name)
	}
	return e, err
}

// write carries out the transaction that plan adds to actions, after it was called with all environments. It is
// repeated if any environment is changed concurrently, because names, sort orders and the limit depend on all of them.
func (s *Store) write(
	ctx context.Context, plan func(found contents, actions *dynamo.Actions) error, failed func(map[string]dynamo.Failure),
) error {
	var actions *dynamo.Actions
	return s.log.RetryTransact(ctx, func() ([]types.TransactWriteItem, error) {
		version, err := s.version.Get(ctx)
		if err != nil {
			return nil, err
		}
		found, err := s.scan(ctx)
		if err != nil {
			return nil, err
		}
		actions = &dynamo.Actions{}
		if err := plan(found, actions); err != nil || len(actions.List()) == 0 {
			return nil, err
		}
		actions.Add(actionVersion, s.version.NextAfter(version, nil))
		return actions.List(), nil
	}, func(failures []dynamo.Failure) error {
		failed(actions.Failed(failures))
		return nil
	})
}

// PendingError reports that the deletion of an environment with the name has not ended.
type PendingError struct{ Deletion Deletion }

func (e *PendingError) Error() string {
	return fmt.Sprintf("the deletion of the environment %q has not ended", e.Deletion.Name)
}

// Create adds an environment in which no toggle is on, and returns it as it is stored. The kind of its error is
// NameExists, also for a name that differs in letter case only, or Validation if the limit is reached. It is a
// PendingError if the deletion of an environment with this name must be continued first.
func (s *Store) Create(ctx context.Context, e Environment) (Environment, error) {
	last := int64(0) // the id of the last event of a deleted environment with the name
	var created Environment
	err := s.write(ctx, func(found contents, actions *dynamo.Actions) error {
		for _, d := range found.deletions {
			if strings.EqualFold(d.Name, e.Name) {
				return &PendingError{d}
			}
		}
		for _, other := range found.all {
			if strings.EqualFold(other.Name, e.Name) {
				return apierror.Taken("/body/name", "An environment with the name %q exists.", other.Name)
			}
		}
		if len(found.all) >= Limit {
			return apierror.Errorf(apierror.Validation,
				"Failed to create environment. You can't create more than the established limit of %d. "+
					"Delete an environment first.", Limit)
		}
		created = e.placed(found.all)
		created.LastEvent = last
		return s.create(ctx, actions, &created)
	}, func(failed map[string]dynamo.Failure) {
		last = max(last, eventlog.LastInMarker(failed[actionMarker])) // a process whose clock is ahead can have deleted it
	})
	if err != nil {
		return Environment{}, fmt.Errorf("create environment %q: %w", e.Name, err)
	}
	return created, nil
}

// create adds the actions that create an environment and record it, and sets e.LastEvent, which is the id of the last
// event of a deleted environment with the name.
func (s *Store) create(ctx context.Context, actions *dynamo.Actions, e *Environment) error {
	id, event, err := s.log.RecordActions(ctx, e.change(eventlog.EnvironmentCreated, e.eventData(), nil))
	if err != nil {
		return err
	}
	e.LastEvent, e.References = id, references.Counts{}
	actions.Add(actionEnvironment, dynamo.NewItem(s.table, hash, toItem(*e, false)))
	actions.Add(actionReferences, s.references.Create(e.Name))
	actions.Add(actionMarker, s.log.CheckMarkerActions(e.subject(), id)...)
	actions.Add(actionEvent, event...)
	return nil
}

// CreateActions returns the actions of a transaction that creates environments and records them. They fail if one
// exists.
func (s *Store) CreateActions(ctx context.Context, all ...Environment) ([]types.TransactWriteItem, error) {
	var actions dynamo.Actions
	for _, e := range all {
		if err := s.create(ctx, &actions, &e); err != nil {
			return nil, err
		}
	}
	return actions.List(), nil
}

// placed returns the environment with its sort order among all environments.
func (e Environment) placed(all []Environment) Environment {
	if !e.Last {
		return e
	}
	e.Last, e.SortOrder = false, 1
	if len(all) > 0 {
		e.SortOrder = min(all[len(all)-1].SortOrder+1, math.MaxInt32)
	}
	return e
}

// Update changes the type, the sort order and the required approvals of an environment, and returns the stored
// environment. The kind of its error is NotFound if there is none. change receives the environment; its error ends the
// update. If nothing changes, Update only reads.
func (s *Store) Update(ctx context.Context, name string, change func(*Environment) error) (Environment, error) {
	next, err := s.change(ctx, name, change, func(old, next Environment) eventlog.Change {
		return old.change(eventlog.EnvironmentUpdated, next.eventData(), old.eventData())
	})
	if err != nil {
		return Environment{}, fmt.Errorf("update environment %q: %w", name, err)
	}
	return next, nil
}

// change writes what edit changes of an environment, with the event that record returns. If nothing changes, it only
// reads.
func (s *Store) change(
	ctx context.Context, name string, edit func(*Environment) error, record func(old, next Environment) eventlog.Change,
) (next Environment, err error) {
	err = s.write(ctx, func(found contents, actions *dynamo.Actions) error {
		old, err := found.get(name)
		if err != nil {
			return err
		}
		next = old
		if err := edit(&next); err != nil || reflect.DeepEqual(next, old) {
			return err
		}
		id, event, err := s.log.RecordActions(ctx, record(old, next))
		if err != nil {
			return err
		}
		next.LastEvent = id
		actions.Add(actionEnvironment, s.replace(old, toItem(next, false)))
		actions.Add(actionEvent, event...)
		return nil
	}, func(map[string]dynamo.Failure) {})
	return next, err
}

func (found contents) get(name string) (Environment, error) {
	i := slices.IndexFunc(found.all, func(e Environment) bool { return e.Name == name })
	if i < 0 {
		return Environment{}, NotFound(name)
	}
	return found.all[i], nil
}

// replace returns the action that replaces the item of an environment. It fails if the environment has changed.
func (s *Store) replace(old Environment, item dynamo.Item) types.TransactWriteItem {
	return dynamo.ReplaceItem(s.table, item,
		eventlog.ExistsWithLast(hash, old.LastEvent).And(expression.Name(attributeDeleted).AttributeNotExists()))
}

// MarkDeleted records the deletion of an environment in which no toggle is on and that has no client token, and marks
// it. If the deletion has begun before, it returns that one. The kind of its error is NotFound, or Conflict if the
// environment is in use. precondition receives the environment; its error is returned.
func (s *Store) MarkDeleted(ctx context.Context, name string, precondition func(Environment) error) (Deletion, error) {
	var deletion Deletion
	err := s.write(ctx, func(found contents, actions *dynamo.Actions) error {
		if i := slices.IndexFunc(found.deletions, func(d Deletion) bool { return d.Name == name }); i >= 0 {
			deletion = found.deletions[i]
			return nil
		}
		e, err := found.get(name)
		if err != nil {
			return err
		}
		if err := precondition(e); err != nil {
			return err
		}
		if n := e.References.Toggles(); n > 0 {
			return apierror.Errorf(apierror.Conflict,
				"The environment %q is in use. The number of toggles that are on in it is %d. Turn them off first.", name, n)
		}
		if n := e.References.Tokens; n > 0 {
			return apierror.Errorf(apierror.Conflict,
				"The environment %q is in use. The number of its client tokens is %d. Delete them first.", name, n)
		}
		if n := e.References.Roles; n > 0 {
			return apierror.Errorf(apierror.Conflict,
				"The environment %q is in use. The number of roles with permissions in it is %d. Remove these permissions first.",
				name, n)
		}
		id, event, err := s.log.RecordActions(ctx, e.change(eventlog.EnvironmentDeleted, nil, e.eventData()))
		if err != nil {
			return err
		}
		deletion = Deletion{name, id}
		marked := e
		marked.LastEvent = id
		actions.Add(actionEnvironment, s.replace(e, toItem(marked, true)))
		actions.Add(actionReferences, s.references.Delete(name, e.References))
		actions.Add(actionMarker, s.log.PutMarkerActions(e.subject(), id, "")...)
		actions.Add(actionEvent, event...)
		return nil
	}, func(map[string]dynamo.Failure) {})
	if err != nil {
		return Deletion{}, fmt.Errorf("delete environment %q: %w", name, err)
	}
	return deletion, nil
}

// CheckDeletion returns the condition, in a transaction that removes the state of the environment from a toggle, that
// the deletion has not ended. Otherwise an environment that was created again could lose its state.
func (s *Store) CheckDeletion(d Deletion) types.TransactWriteItem {
	return s.check(key(d.Name), isMarked(d))
}

// Finish ends the deletion of an environment whose state no toggle has any more. It does nothing if the deletion has
// ended.
func (s *Store) Finish(ctx context.Context, d Deletion) error {
	expr := dynamo.Build(expression.NewBuilder().WithCondition(isMarked(d)))
	_, err := s.client.DeleteItem(ctx, &dynamodb.DeleteItemInput{
		TableName:                 &s.table,
		Key:                       key(d.Name),
		ConditionExpression:       expr.Condition(),
		ExpressionAttributeNames:  expr.Names(),
		ExpressionAttributeValues: expr.Values(),
	})
	if err != nil && !dynamo.FailedCondition(err) {
		return fmt.Errorf("finish the deletion of environment %q: %w", d.Name, err)
	}
	return nil
}

func isMarked(d Deletion) expression.ConditionBuilder {
	return eventlog.HasLast(d.Event).And(expression.Name(attributeDeleted).AttributeExists())
}

func toItem(e Environment, deleted bool) dynamo.Item {
	return dynamo.Marshal(record{
		itemKey:   itemKey{e.Name},
		Type:      e.Type,
		SortOrder: e.SortOrder,
		LastEvent: e.LastEvent,
		Deleted:   deleted,

		RequiredApprovals: e.RequiredApprovals,
		Freeze:            e.Freeze,
	})
}

func fromItem(item dynamo.Item) (e Environment, deleted bool, err error) {
	var stored record
	if err := dynamo.Unmarshal(item, &stored); err != nil {
		return Environment{}, false, err
	}
	e = Environment{
		Name:      stored.Name,
		Type:      stored.Type,
		SortOrder: stored.SortOrder,
		LastEvent: stored.LastEvent,

		RequiredApprovals: stored.RequiredApprovals,
		Freeze:            stored.Freeze,
	}
	return e, stored.Deleted, nil
}
