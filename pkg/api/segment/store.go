package segment

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/api/constraint"
	"toggleadmin/pkg/api/contextfield"
	"toggleadmin/pkg/api/environment"
	"toggleadmin/pkg/api/featuretable"
	"toggleadmin/pkg/api/references"
	"toggleadmin/pkg/api/segmenttable"
	download "toggleadmin/pkg/delivery/snapshot"
	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/accesstable"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/pkg/toggle"
)

// Store keeps the segments in the table Segments: one item with each segment, one with the references to it, and one
// with the version of all segments and the counter of ids. It is safe for concurrent use.
type Store struct {
	client          *dynamodb.Client
	table           string
	features        string // for the names of the toggles that use a segment
	access          string // the table of projects
	references      references.Store
	fields          *contextfield.Store
	fieldReferences references.Store
	version         dynamo.TableVersion
	log             *eventlog.Log
	maxValues       int // in the constraints of a segment

	environments *environment.Store
	projects     *accesstable.Reader
}

// NewStore returns a Store on the tables Segments and ContextFields that records its changes in log, which can be nil
// if the Store only reads.
func NewStore(client *dynamodb.Client, tables dynamo.Tables, log *eventlog.Log) *Store {
	return &Store{
		client:          client,
		table:           tables[segmenttable.Table],
		features:        tables[featuretable.Table],
		access:          tables[accesstable.Table],
		references:      ReferencesStore(client, tables),
		fields:          contextfield.NewStore(client, tables, nil),
		fieldReferences: contextfield.ReferencesStore(client, tables),
		version:         dynamo.NewTableVersion(client, tables[segmenttable.Table], segmenttable.Hash),
		log:             log,
		maxValues:       MaxValues,

		environments: environment.NewStore(client, tables, nil),
		projects:     accesstable.NewReader(client, tables),
	}
}

// ForImport returns a copy of the store that permits more values in the constraints of a segment.
func (s *Store) ForImport() *Store {
	importing := *s
	importing.maxValues = toggle.MaxImportedValues
	return &importing
}

// ReferencesStore returns the references to segments by segmenttable.Name of their ids.
func ReferencesStore(client *dynamodb.Client, tables dynamo.Tables) references.Store {
	return references.NewStore(client, tables[segmenttable.Table], segmenttable.Hash)
}

// The names of the actions of a transaction.
const (
	actionSegment         = "segment"
	actionReferences      = "references"
	actionVersion         = "version"
	actionProtection      = "protection" // of environments in which the segment is used
	actionField           = "field"
	actionFieldReferences = "references to a field"
	actionEvent           = "event"
	actionProject         = "project " // and its id
)

// List returns all segments, ordered by id. It is one consistent Scan per MB.
func (s *Store) List(ctx context.Context) ([]Segment, error) {
	var all []Segment
	used := map[string]references.Counts{}
	for item, err := range dynamo.Scan(ctx, s.client, s.table) {
		if err != nil {
			return nil, fmt.Errorf("list segments: %w", err)
		}
		if name, ok := s.references.ResourceOf(item); ok {
			used[name], _ = references.FromItem(item)
			continue
		}
		if !segmenttable.IsSegment(item) {
			continue
		}
		stored, err := segmenttable.Unmarshal(item)
		if err != nil {
			return nil, fmt.Errorf("list segments: %w", err)
		}
		all = append(all, Segment{Segment: stored})
	}
	for i := range all {
		all[i].References = used[segmenttable.Name(all[i].ID)]
	}
	slices.SortFunc(all, func(a, b Segment) int { return cmp.Compare(a.ID, b.ID) })
	return all, nil
}

// Get returns one segment. The kind of its error is NotFound if there is none. It is one consistent read of two items.
func (s *Store) Get(ctx context.Context, id int64) (Segment, error) {
	name := segmenttable.Name(id)
	items, err := dynamo.GetAll(ctx, s.client, s.table, []dynamo.Item{segmenttable.Key(id), s.references.Key(name)})
	if err != nil {
		return Segment{}, fmt.Errorf("get segment %d: %w", id, err)
	}
	var found Segment
	for _, item := range items {
		if _, ok := s.references.ResourceOf(item); ok {
			found.References, _ = references.FromItem(item)
			continue
		}
		if found.Segment, err = segmenttable.Unmarshal(item); err != nil {
			return Segment{}, fmt.Errorf("get segment %d: %w", id, err)
		}
	}
	if found.ID == 0 {
		return Segment{}, notFound(name)
	}
	return found, nil
}

// Create adds a segment that no toggle uses, and returns it as it is stored, with its id. The kind of its error is, in
// this order, Validation if a constraint cannot be stored, a limit is reached or the project does not exist,
// NameExists, NoAccess if the list of all segments would be too large, or Conflict if the project is archived. It reads
// all segments and writes one transaction, repeated if a segment, or a context field in its constraints, is changed
// concurrently.
func (s *Store) Create(ctx context.Context, next Segment) (created Segment, err error) {
	err = s.write(ctx, func(all []Segment, lastID int64, actions *dynamo.Actions) (int64, error) {
		created = next
		created.ID, created.LastEvent, created.References = lastID+1, 0, references.Counts{}
		fields, err := s.check(ctx, all, created)
		if err != nil {
			return 0, err
		}
		if len(all) >= Limit {
			return 0, apierror.Errorf(apierror.Validation,
				"Failed to create segment. You can't create more than the established limit of %d. "+
					"Delete a segment first.", Limit)
		}
		id, event, err := s.log.RecordActions(ctx, created.change(eventlog.SegmentCreated, created.eventData(), nil))
		if err != nil {
			return 0, err
		}
		created.LastEvent = id
		actions.Add(actionSegment, dynamo.NewItem(s.table, segmenttable.Hash, segmenttable.Marshal(created.Segment)))
		actions.Add(actionReferences, s.references.Create(segmenttable.Name(created.ID)))
		s.use(actions, nil, created.Constraints, fields)
		s.addProject(actions, created.Project)
		actions.Add(actionEvent, event...)
		return created.ID, nil
	})
	if err != nil {
		return Segment{}, fmt.Errorf("create segment %q: %w", next.Name, err)
	}
	return created, nil
}

// Update changes a segment. The kind of its error is NotFound, or one of those of Create. change receives the segment;
// its error ends the update. If nothing changes, Update only reads.
func (s *Store) Update(ctx context.Context, id int64, change func(*Segment) error) error {
	err := s.write(ctx, func(all []Segment, lastID int64, actions *dynamo.Actions) (int64, error) {
		return lastID, s.planUpdate(ctx, all, actions, id, change)
	})
	if err != nil {
		return fmt.Errorf("update segment %d: %w", id, err)
	}
	return nil
}

// planUpdate adds the actions of an update, and replaces the segment in all, which are all segments.
func (s *Store) planUpdate(
	ctx context.Context, all []Segment, actions *dynamo.Actions, id int64, change func(*Segment) error,
) error {
	i := slices.IndexFunc(all, func(other Segment) bool { return other.ID == id })
	if i < 0 {
		return notFound(segmenttable.Name(id))
	}
	old, next := all[i], all[i]
	if err := change(&next); err != nil || reflect.DeepEqual(old, next) {
		return err
	}
	fields, err := s.check(ctx, all, next)
	if err != nil {
		return err
	}
	if err := s.checkRoom(ctx, old, next); err != nil {
		return err
	}
	by, conditions, err := s.permit(ctx, old, next)
	if err != nil {
		return err
	}
	c := old.change(eventlog.SegmentUpdated, next.eventData(), old.eventData())
	c.PermittedBy = by
	event, record, err := s.log.RecordActions(ctx, c)
	if err != nil {
		return err
	}
	next.LastEvent = event
	actions.Add(actionSegment, dynamo.ReplaceItem(s.table, segmenttable.Marshal(next.Segment), unchanged(old)))
	s.use(actions, old.Constraints, next.Constraints, fields)
	if !reflect.DeepEqual(old.Project, next.Project) {
		s.addProject(actions, next.Project)
	}
	actions.Add(actionProtection, conditions...)
	actions.Add(actionEvent, record...)
	all[i] = next
	return nil
}

// unchanged returns the condition that a segment has not changed since it was read.
func unchanged(s Segment) expression.ConditionBuilder {
	return eventlog.ExistsWithLast(segmenttable.Hash, s.LastEvent)
}

// inUse returns the error of the kind Conflict for a segment that toggles use. It names those that the caller sees. It
// reads all toggles.
func (s *Store) inUse(ctx context.Context, used Segment) error {
	visible, err := access.Visibility(ctx)
	if err != nil {
		return err
	}
	rows, err := featuretable.Scan(ctx, s.client, s.features, func(row featuretable.Row) bool {
		return slices.Contains(row.Segments, used.ID) && visible(row.Toggle.Project)
	})
	if err != nil {
		return err
	}
	message := fmt.Sprintf("The segment %q is in use", apierror.Echo(used.Name))
	if len(rows) > 0 {
		message += fmt.Sprintf(". The number of toggles with a strategy that uses it, with archived ones, is %d: %s", len(rows),
			apierror.Listed(featuretable.Names(rows)))
	}
	return apierror.New(apierror.Conflict, message+".")
}

// Delete deletes a segment that no strategy uses. The kind of its error is NotFound, or Conflict if strategies use it,
// those of archived toggles included. precondition receives the segment; its error is returned.
func (s *Store) Delete(ctx context.Context, id int64, precondition func(Segment) error) error {
	err := s.log.RetryTransact(ctx, func() ([]types.TransactWriteItem, error) {
		old, err := s.Get(ctx, id)
		if err == nil {
			err = precondition(old)
		}
		if err != nil {
			return nil, err
		}
		var actions dynamo.Actions
		err = s.planDelete(ctx, &actions, old)
		return actions.List(), err
	}, nil)
	if err != nil {
		return fmt.Errorf("delete segment %d: %w", id, err)
	}
	return nil
}

// planDelete adds the actions that delete a segment, which was read.
func (s *Store) planDelete(ctx context.Context, actions *dynamo.Actions, old Segment) error {
	if old.References.Toggles()+old.References.Archived > 0 {
		return s.inUse(ctx, old)
	}
	_, event, err := s.log.RecordActions(ctx, old.change(eventlog.SegmentDeleted, nil, old.eventData()))
	if err != nil {
		return err
	}
	actions.Add(actionSegment, dynamo.DeleteItem(s.table, segmenttable.Key(old.ID), unchanged(old)))
	actions.Add(actionReferences, s.references.Delete(segmenttable.Name(old.ID), old.References))
	s.use(actions, old.Constraints, nil, nil)
	actions.Add(actionEvent, event...)
	return nil
}

// check returns the context fields that the constraints of a segment name, or an error if the segment cannot be stored
// beside the others.
func (s *Store) check(ctx context.Context, all []Segment, next Segment) (map[string]contextfield.ContextField, error) {
	names := constraint.Names(next.Constraints)
	most := s.maxValues
	for _, stored := range all {
		if stored.ID == next.ID { // an import has stored more
			most = max(most, valuesOf(stored.Constraints))
		}
	}
	if n := valuesOf(next.Constraints); n > most {
		return nil, apierror.Invalid(apierror.At("/body/constraints",
			"has %d values, and the limit is %d. Divide it into several segments", n, most))
	}
	if n := len(names); n > maxFields {
		return nil, apierror.Invalid(apierror.At("/body/constraints",
			"must name at most %d context fields; you sent %d", maxFields, n))
	}
	fields, err := s.fields.Named(ctx, names)
	if err != nil {
		return nil, err
	}
	if err := constraint.CheckFields("/body/constraints", next.Constraints, fields); err != nil {
		return nil, err
	}
	for _, other := range all {
		if other.ID != next.ID && sameName(other.Name, next.Name) {
			return nil, apierror.Taken("/body/name", "A segment with the name %q exists.", apierror.Echo(next.Name))
		}
	}
	return fields, checkSizes(all, next)
}

// smallChange is how much larger a segment can always become, in bytes, so that a person can still restrict it.
const smallChange = 200

// checkRoom returns an error if a change enlarges a segment that toggles use, and an environment is full.
func (s *Store) checkRoom(ctx context.Context, old, next Segment) error {
	before, err := download.SizeOfSegment(old.Segment.Segment)
	if err != nil {
		return err
	}
	after, err := download.SizeOfSegment(next.Segment.Segment)
	if err != nil || old.References.Toggles() == 0 || after <= before+smallChange {
		return err
	}
	full, err := s.environments.AllFull(ctx)
	if err == nil && len(full) > 0 {
		err = environment.NoRoom(full[0])
	}
	return err
}

// use adds the actions that change the references to context fields when the constraints of a segment change. The
// transaction fails if one of the fields in next, whose legal values permit the constraints, has changed or was
// deleted. fields are those of check.
func (s *Store) use(
	actions *dynamo.Actions, old, next []toggle.Constraint, fields map[string]contextfield.ContextField,
) {
	if reflect.DeepEqual(old, next) {
		return
	}
	before, after := constraint.Fields(old), constraint.Fields(next)
	for _, name := range constraint.Names(next) {
		f, exists := fields[name]
		if !exists { // one that every context has
			continue
		}
		change := references.Counts{Version: 1}
		if slices.Contains(after, name) && !slices.Contains(before, name) {
			change.Segments = 1
		}
		actions.Add(actionField, s.fields.Unchanged(f))
		actions.Add(actionFieldReferences, s.fieldReferences.Change(name, change, references.Counts{}))
	}
	for _, name := range before {
		if !slices.Contains(after, name) {
			actions.Add(actionFieldReferences,
				s.fieldReferences.Change(name, references.Counts{Segments: -1}, references.Counts{}))
		}
	}
}

// attributeLastID is the highest id that was issued, in the item with the version of the table.
const attributeLastID = "lastId"

// IsCounter reports whether a key of the table Segments is that of the counter of ids, which only rises.
func IsCounter(key dynamo.Item) bool { return key.String(segmenttable.Hash) == dynamo.VersionKey }

// write carries out the transaction that plan adds to actions, after it was called with all segments and the highest id
// that was issued. plan returns the highest id. The transaction is repeated if any segment is created or changed
// concurrently, because names, the limit and the size of the list depend on all segments.
func (s *Store) write(
	ctx context.Context, plan func(all []Segment, lastID int64, actions *dynamo.Actions) (int64, error),
) error {
	var actions *dynamo.Actions
	return s.log.RetryTransact(ctx, func() ([]types.TransactWriteItem, error) {
		actions = &dynamo.Actions{}
		err := s.plan(ctx, actions, plan)
		return actions.List(), err
	}, func(failures []dynamo.Failure) error {
		for name, f := range actions.Failed(failures) {
			if project, ok := strings.CutPrefix(name, actionProject); ok {
				return s.unmetProject(f, project)
			}
		}
		return nil
	})
}

// addProject adds the condition that the project of a segment, if it has one, is active.
func (s *Store) addProject(actions *dynamo.Actions, project *string) {
	if project != nil {
		condition := accesstable.Condition{Active: true}
		actions.Add(actionProject+*project, condition.Actions(s.access, *project, s.log.Now())...)
	}
}

// unmetProject returns the error if a transaction failed because of a project, or nil if the project is active again.
func (s *Store) unmetProject(f dynamo.Failure, project string) error {
	err := accesstable.Condition{Active: true}.Unmet(f, project, s.log.Now())
	if apierror.KindOf(err) == apierror.NotFound {
		return missingProject(project)
	}
	return err
}

// missingProject returns the error if the project of a segment does not exist.
func missingProject(id string) error {
	return apierror.Invalid(apierror.At("/body/project", "must be the id of a project").Sent(id))
}

// plan adds the actions of one attempt of write.
func (s *Store) plan(
	ctx context.Context, actions *dynamo.Actions,
	plan func(all []Segment, lastID int64, actions *dynamo.Actions) (int64, error),
) error {
	version, err := s.version.Get(ctx)
	if err != nil {
		return err
	}
	all, err := s.List(ctx)
	if err != nil {
		return err
	}
	lastID, err := plan(all, version.Int(attributeLastID), actions)
	if err != nil || len(actions.List()) == 0 {
		return err
	}
	actions.Add(actionVersion, s.version.NextAfter(version, dynamo.Item{attributeLastID: dynamo.N(lastID)}))
	return nil
}

// trimmed returns a name without white space around it.
func trimmed(name string) string { return strings.TrimSpace(name) }
