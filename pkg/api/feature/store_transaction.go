package feature

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/api/contextfield"
	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/pkg/toggle"
)

// maxActions is the maximum number of actions of a transaction (DynamoDB API Reference, TransactWriteItems).
const maxActions = 100

// ErrTooManyChanges reports changes of several toggles that do not fit into one transaction.
var ErrTooManyChanges = errors.New("the changes do not fit into one transaction")

// transaction is the transaction of a write of toggles.
type transaction struct {
	*Store
	edits   []*edit
	known   Types // the types that were read
	actions dynamo.Actions

	flagLater []string // toggles whose flags split has taken out of the transaction
}

// edit is a change of one toggle.
type edit struct {
	old, next toggle.Feature // without a Name: the toggle does not exist
	changes   []eventlog.Change
	lifetime  string // the type whose lifetime decided the flag, and must not change; empty: none
}

// The names of the actions of a transaction.
const (
	actionToggle   = "toggle"
	actionMarker   = "marker" // of a deleted toggle with the name
	actionEvent    = "event"
	actionLifetime = "lifetime"
	actionUsage    = "usage of " // and the name of the field
)

func (s *Store) transaction() *transaction {
	return &transaction{Store: s, known: Types{}}
}

// add adds the change of a toggle from old to next, and decides its flag. An old toggle without a name does not exist.
func (t *transaction) add(ctx context.Context, old, next toggle.Feature) error {
	next.LastEvent, next.PotentiallyStale = old.LastEvent, old.PotentiallyStale
	e := &edit{old: old, next: next}
	t.edits = append(t.edits, e)
	if old.Name == "" {
		e.changes = []eventlog.Change{recordOf(next, eventlog.FeatureCreated, snapshot(next), nil)}
		return t.decide(ctx, e, "")
	}
	e.changes = changes(old, next)
	if reason := old.ClearReason(next); reason != "" {
		return t.decide(ctx, e, reason)
	}
	return nil
}

// reevaluate adds the flip of a toggle that is due.
func (t *transaction) reevaluate(ctx context.Context, f toggle.Feature) error {
	e := &edit{old: f, next: f}
	t.edits = append(t.edits, e)
	return t.decide(ctx, e, toggle.ReasonLifetimeChanged)
}

// remove adds the deletion of a toggle.
func (t *transaction) remove(ctx context.Context, old toggle.Feature) error {
	e := &edit{old: old}
	t.edits = append(t.edits, e)
	if old.PotentiallyStale {
		kind, err := t.typeOf(ctx, old.Type)
		if err != nil {
			return err
		}
		e.changes = append(e.changes, flipRecord(old, kind.LifetimeDays, toggle.ReasonDeleted, nil))
	}
	e.changes = append(e.changes, recordOf(old, eventlog.FeatureDeleted, nil, snapshot(old)))
	return nil
}

// decide decides the flag of the toggle of an edit, and adds the flip if the flag changes.
func (t *transaction) decide(ctx context.Context, e *edit, reason toggle.ClearReason) error {
	e.next.PotentiallyStale = false
	if !t.log.Discards() && e.next.CanBecomeStale() && e.next.Type != "" { // otherwise re-evaluation decides it
		kind, err := t.typeOf(ctx, e.next.Type)
		if err != nil {
			return err
		}
		e.lifetime = kind.ID
		e.next.PotentiallyStale = e.next.IsPotentiallyStale(kind.LifetimeDays, t.log.Now())
	}
	if e.next.PotentiallyStale == e.old.PotentiallyStale {
		return nil
	}
	kind, err := t.typeOf(ctx, e.next.Type)
	if e.next.PotentiallyStale {
		reason = ""
	}
	e.changes = append(e.changes, flipRecord(e.next, kind.LifetimeDays, reason, nil))
	return err
}

// typeOf reads a type once. One that does not exist has no lifetime.
func (t *transaction) typeOf(ctx context.Context, id string) (toggle.Type, error) {
	kind, known := t.known[id]
	if known {
		return kind, nil
	}
	kind, _, err := t.Type(ctx, id)
	t.known[id] = kind
	return kind, err
}

// changes returns what an update of a toggle records, without its flip.
func changes(old, next toggle.Feature) (all []eventlog.Change) {
	add := func(t eventlog.Type, state toggle.Feature) {
		all = append(all, recordOf(next, t, snapshot(state), snapshot(old)))
		old = state
	}
	if old.Archived != next.Archived {
		state := old
		state.Archived, state.ArchivedAt = next.Archived, next.ArchivedAt
		kind := eventlog.FeatureRevived
		if next.Archived {
			kind = eventlog.FeatureArchived
		}
		add(kind, state)
	}
	if old.Stale != next.Stale {
		state := old
		state.Stale = next.Stale
		kind := eventlog.FeatureStaleOff
		if next.Stale {
			kind = eventlog.FeatureStaleOn
		}
		add(kind, state)
	}
	if old.Differs(next) {
		add(eventlog.FeatureUpdated, next)
	}
	return all
}

// make makes the actions: none without a change.
func (t *transaction) make(ctx context.Context) ([]types.TransactWriteItem, error) {
	t.actions = dynamo.Actions{}
	for _, e := range t.edits {
		if len(e.changes) == 0 {
			continue
		}
		if err := t.write(ctx, e); err != nil {
			return nil, err
		}
	}
	if len(t.actions.List()) == 0 {
		return nil, nil
	}
	if err := t.use(ctx); err != nil {
		return nil, err
	}
	for _, id := range t.lifetimes() {
		t.actions.Add(actionLifetime, t.types.Unchanged(t.known[id]))
	}
	return t.actions.List(), nil
}

// write adds the actions that write the toggle of an edit and record the changes.
func (t *transaction) write(ctx context.Context, e *edit) error {
	last := e.old.LastEvent
	var records []types.TransactWriteItem
	for _, c := range e.changes {
		c.Last = last
		id, record, err := t.log.RecordActions(ctx, c)
		if err != nil {
			return err
		}
		last, records = id, append(records, record...)
	}
	condition, names, values := eventlog.Unchanged("name", e.old.LastEvent)
	switch {
	case e.old.Name == "":
		e.next.LastEvent = last
		t.actions.Add(actionToggle, dynamo.NewItem(t.features, "name", toItem(e.next)))
		t.actions.Add(actionMarker, t.log.CheckMarkerActions(subject(e.next), last)...)
	case e.next.Name == "":
		t.actions.Add(actionToggle, types.TransactWriteItem{Delete: &types.Delete{
			TableName:                 &t.features,
			Key:                       key(e.old.Name),
			ConditionExpression:       &condition,
			ExpressionAttributeNames:  names,
			ExpressionAttributeValues: values,
		}})
		t.actions.Add(actionMarker, t.log.PutMarkerActions(subject(e.old), last)...)
	default:
		e.next.LastEvent = last
		t.actions.Add(actionToggle, types.TransactWriteItem{Put: &types.Put{
			TableName:                 &t.features,
			Item:                      toItem(e.next),
			ConditionExpression:       &condition,
			ExpressionAttributeNames:  names,
			ExpressionAttributeValues: values,
		}})
	}
	t.actions.Add(actionEvent, records...)
	return nil
}

// use adds the actions that change the usage of context fields. It reads the usage that becomes less.
func (t *transaction) use(ctx context.Context) error {
	changes := t.usage()
	var less []string
	for field, byProject := range changes {
		for _, n := range byProject {
			if n < 0 {
				less = append(less, field)
				break
			}
		}
	}
	slices.Sort(less)
	stored, err := t.fields.Usage(ctx, less)
	if err != nil {
		return err
	}
	for _, field := range slices.Sorted(maps.Keys(changes)) {
		t.actions.Add(actionUsage+field, t.fields.Use(field, changes[field], stored[field]))
	}
	return nil
}

// lifetimes returns the types whose lifetime must not change, sorted.
func (t *transaction) lifetimes() []string {
	all := map[string]bool{}
	for _, e := range t.edits {
		if e.lifetime != "" {
			all[e.lifetime] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}

// usage returns the changes of the usage of context fields, by field.
func (t *transaction) usage() map[string]contextfield.Usage {
	all := map[string]contextfield.Usage{}
	count := func(f toggle.Feature, change int64) {
		for _, field := range f.UsedContextFields() {
			if all[field] == nil {
				all[field] = contextfield.Usage{}
			}
			all[field][f.Project] += change
		}
	}
	for _, e := range t.edits {
		count(e.old, -1)
		count(e.next, +1)
	}
	for field, changes := range all {
		maps.DeleteFunc(changes, func(_ string, n int64) bool { return n == 0 })
		if len(changes) == 0 {
			delete(all, field)
		}
	}
	return all
}

// flips reports whether an edit changes the flag. Its last change is the flip.
func (e *edit) flips() bool { return e.old.PotentiallyStale != e.next.PotentiallyStale }

// size returns the number of actions of the changes of several toggles that exist, without flips, with their flips, and
// with the conditions on types.
func (t *transaction) size() (withoutFlips, whole int) {
	withoutFlips = len(t.usage())
	whole = len(t.usage()) + len(t.lifetimes())
	for _, e := range t.edits {
		n := len(e.changes)
		if n > 0 {
			whole += 1 + n
		}
		if e.flips() {
			n--
		}
		if n > 0 {
			withoutFlips += 1 + n
		}
	}
	return withoutFlips, whole
}

// split makes a transaction with too many actions smaller. It returns a transaction that must be carried out before,
// which clears the flags that the change clears, or nil. Otherwise it takes the decisions about flags out of the
// transaction, which then has flagLater. It returns ErrTooManyChanges if this is not enough.
func (t *transaction) split() (before *transaction, err error) {
	withoutFlips, whole := t.size()
	if len(t.edits) == 1 || whole <= maxActions {
		return before, nil
	}
	if withoutFlips > maxActions {
		return nil, fmt.Errorf("%w: it would have %d actions, the maximum is %d", ErrTooManyChanges, withoutFlips,
			maxActions)
	}
	before = t.Store.transaction()
	for _, e := range t.edits {
		if e.old.PotentiallyStale && e.flips() {
			cleared := e.old
			cleared.PotentiallyStale = false
			before.edits = append(before.edits, &edit{old: e.old, next: cleared, changes: e.changes[len(e.changes)-1:]})
		}
	}
	if len(before.edits) > 0 {
		return before, nil
	}
	for _, e := range t.edits {
		if e.lifetime == "" {
			continue
		}
		e.lifetime = ""
		t.flagLater = append(t.flagLater, e.next.Name)
		if e.flips() {
			e.next.PotentiallyStale = false
			e.changes = e.changes[:len(e.changes)-1]
		}
	}
	before = nil // the transaction itself is smaller now
	return before, nil
}

// unknownContextField returns the error if a transaction failed only because a context field does not exist. It names
// the field.
func (t *transaction) unknownContextField(failures []dynamo.Failure) error {
	failed := t.actions.Failed(failures)
	unknown := ""
	for _, action := range slices.Sorted(maps.Keys(failed)) {
		field, isUsage := strings.CutPrefix(action, actionUsage)
		if !isUsage || failed[action].Item != nil {
			return nil // the next attempt checks the fields again
		}
		if unknown == "" {
			unknown = field
		}
	}
	return apierror.Errorf(apierror.Conflict,
		"The toggle uses the context field %q, which does not exist. Create the field first.", apierror.Echo(unknown))
}
