package feature

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/api/eventlog"
	"toggleadmin/pkg/api/featuretype"
	"toggleadmin/pkg/platform/datetime"
	"toggleadmin/pkg/platform/dynamo"
)

// maxActions is the maximum number of actions of a transaction (DynamoDB API Reference, TransactWriteItems).
const maxActions = 100

// transaction is the transaction of a write of toggles.
type transaction struct {
	*Store
	edits   []*edit
	known   Types           // the types that were read
	depends map[string]bool // the types whose lifetime must not change
	actions []types.TransactWriteItem

	flagLater []string // toggles whose flags split has taken out of the transaction
}

// edit is a change of one toggle.
type edit struct {
	old, next Feature // without a Name: the toggle does not exist
	changes   []eventlog.Change
}

func (s *Store) transaction() *transaction {
	return &transaction{Store: s, known: Types{}, depends: map[string]bool{}}
}

// add adds the change of a toggle from old to next, and decides its flag. An old toggle without a name does not exist.
func (t *transaction) add(ctx context.Context, old, next Feature) error {
	next.LastEvent, next.PotentiallyStale = old.LastEvent, old.PotentiallyStale
	e := &edit{old: old, next: next}
	t.edits = append(t.edits, e)
	if old.Name == "" {
		e.changes = []eventlog.Change{next.change(eventlog.FeatureCreated, next.snapshot(), nil)}
		return t.decide(ctx, e, "")
	}
	e.changes = changes(old, next)
	if reason := old.resets(next); reason != "" {
		return t.decide(ctx, e, reason)
	}
	return nil
}

// reevaluate adds the flip of a toggle that is due.
func (t *transaction) reevaluate(ctx context.Context, f Feature) error {
	e := &edit{old: f, next: f}
	t.edits = append(t.edits, e)
	return t.decide(ctx, e, LifetimeChanged)
}

// remove adds the deletion of a toggle.
func (t *transaction) remove(ctx context.Context, old Feature) error {
	e := &edit{old: old}
	t.edits = append(t.edits, e)
	if old.PotentiallyStale {
		kind, err := t.typeOf(ctx, old.Type)
		if err != nil {
			return err
		}
		e.changes = append(e.changes, old.flipChange(kind.LifetimeDays, Deleted, nil))
	}
	e.changes = append(e.changes, old.change(eventlog.FeatureDeleted, nil, old.snapshot()))
	return nil
}

// decide decides the flag of the toggle of an edit, and adds the flip if the flag changes.
func (t *transaction) decide(ctx context.Context, e *edit, reason Reason) error {
	e.next.PotentiallyStale = false
	if now, ok := t.log.Now(); ok && e.next.canBecomeStale() && e.next.Type != "" {
		kind, err := t.typeOf(ctx, e.next.Type)
		if err != nil {
			return err
		}
		t.depends[kind.ID] = true
		at := e.next.PotentiallyStaleAt(kind.LifetimeDays)
		e.next.PotentiallyStale = at != nil && !datetime.Milliseconds(now).Before(*at)
	}
	if e.next.PotentiallyStale == e.old.PotentiallyStale {
		return nil
	}
	kind, err := t.typeOf(ctx, e.next.Type)
	if e.next.PotentiallyStale {
		reason = ""
	}
	e.changes = append(e.changes, e.next.flipChange(kind.LifetimeDays, reason, nil))
	return err
}

// typeOf reads a type once. One that does not exist has no lifetime.
func (t *transaction) typeOf(ctx context.Context, id string) (featuretype.FeatureType, error) {
	kind, known := t.known[id]
	if known {
		return kind, nil
	}
	kind, _, err := t.Lifetime(ctx, id)
	t.known[id] = kind
	return kind, err
}

// changes returns what an update of a toggle records, without its flip.
func changes(old, next Feature) (all []eventlog.Change) {
	add := func(t eventlog.Type, state Feature) {
		all = append(all, next.change(t, state.snapshot(), old.snapshot()))
		old = state
	}
	state := old
	if state.Archived, state.ArchivedAt = next.Archived, next.ArchivedAt; old.Archived != next.Archived {
		add(map[bool]eventlog.Type{true: eventlog.FeatureArchived, false: eventlog.FeatureRevived}[next.Archived], state)
	}
	state = old
	if state.Stale = next.Stale; old.Stale != next.Stale {
		add(map[bool]eventlog.Type{true: eventlog.FeatureStaleOn, false: eventlog.FeatureStaleOff}[next.Stale], state)
	}
	if old.differs(next) {
		add(eventlog.FeatureUpdated, next)
	}
	return all
}

// make makes the actions: none without a change. The writes of toggles come first.
func (t *transaction) make(ctx context.Context) ([]types.TransactWriteItem, error) {
	var writes, others []types.TransactWriteItem
	for _, e := range t.edits {
		if len(e.changes) == 0 {
			continue
		}
		last := e.old.LastEvent
		var records []types.TransactWriteItem
		for _, c := range e.changes {
			c.Last = last
			id, record, err := t.log.Actions(ctx, c)
			if err != nil {
				return nil, err
			}
			last, records = id, append(records, record...)
		}
		condition, names, values := eventlog.Unchanged("name", e.old.LastEvent)
		switch {
		case e.old.Name == "":
			e.next.LastEvent = last
			writes = append(writes, dynamo.NewItem(t.features, "name", toItem(e.next)))
			others = append(others, t.log.Created(e.next.subject(), last)...)
		case e.next.Name == "":
			writes = append(writes, types.TransactWriteItem{Delete: &types.Delete{
				TableName: &t.features, Key: key(e.old.Name), ConditionExpression: &condition,
				ExpressionAttributeNames: names, ExpressionAttributeValues: values,
			}})
			others = append(others, t.log.Deleted(e.old.subject(), last)...)
		default:
			e.next.LastEvent = last
			writes = append(writes, types.TransactWriteItem{Put: &types.Put{
				TableName: &t.features, Item: toItem(e.next), ConditionExpression: &condition,
				ExpressionAttributeNames: names, ExpressionAttributeValues: values,
			}})
		}
		others = slices.Concat(others, records, t.usage(e.old, e.next))
	}
	if writes == nil {
		return nil, nil
	}
	for _, id := range slices.Sorted(maps.Keys(t.depends)) {
		others = append(others, t.types.Unchanged(t.known[id]))
	}
	t.actions = append(writes, others...)
	return t.actions, nil
}

// size returns the number of actions of the changes of several toggles, which have no usage.
func (t *transaction) size() int {
	n := len(t.depends)
	for _, e := range t.edits {
		if len(e.changes) > 0 {
			n += 1 + len(e.changes)
		}
	}
	return n
}

// split makes a transaction with too many actions smaller. It returns a transaction that must be carried out before,
// which clears the flags that the change clears, or nil. Otherwise it takes the flips that set flags out of the
// transaction, which then has flagLater.
func (t *transaction) split() *transaction {
	if len(t.edits) == 1 || t.size() <= maxActions {
		return nil
	}
	before := t.Store.transaction()
	for _, e := range t.edits {
		if e.old.PotentiallyStale && !e.next.PotentiallyStale {
			cleared := e.old
			cleared.PotentiallyStale = false
			before.edits = append(before.edits, &edit{e.old, cleared, e.changes[len(e.changes)-1:]})
		}
	}
	if len(before.edits) > 0 {
		return before
	}
	clear(t.depends)
	for _, e := range t.edits {
		if !e.old.PotentiallyStale && e.next.PotentiallyStale {
			e.next.PotentiallyStale, e.changes = false, e.changes[:len(e.changes)-1]
			t.flagLater = append(t.flagLater, e.next.Name)
		}
	}
	return nil
}

// unknownContextField returns the error if a transaction failed only because a context field does not exist. It names
// the field.
func (t *transaction) unknownContextField(failures []dynamo.Failure) error {
	unknown := ""
	for i, f := range failures {
		update := t.actions[i].Update
		if f.Failed && update == nil {
			return nil // the fields are checked by the next attempt
		}
		if f.Failed && unknown == "" {
			unknown = dynamo.Item(update.Key).String("name")
		}
	}
	return &NameError{ErrUnknownContextField, unknown}
}

// usage returns the actions that update the usage of context fields (project → number of toggles) after a change from
// old to next, ordered by field. A project that does not use a field any more keeps the number 0.
func (t *transaction) usage(old, next Feature) []types.TransactWriteItem {
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
				TableName: &t.contextFields, Key: key(field), UpdateExpression: aws.String("SET " + strings.Join(set, ", ")),
				ConditionExpression: aws.String("attribute_exists(#name)"), ExpressionAttributeNames: names,
				ExpressionAttributeValues: values,
			}})
		}
	}
	return actions
}
