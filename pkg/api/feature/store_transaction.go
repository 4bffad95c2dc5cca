package feature

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/api/contextfield"
	"toggleadmin/pkg/api/environment"
	"toggleadmin/pkg/api/featuretable"
	"toggleadmin/pkg/api/protection"
	"toggleadmin/pkg/api/stalenessindex"
	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/platform/accesstable"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/pkg/toggle"
)

// transaction is the transaction of a write of toggles.
type transaction struct {
	store   *Store
	edits   []*edit
	types   Types                                // that were read
	fields  map[string]contextfield.ContextField // that the change constrains, which must not change
	actions dynamo.Actions
	last    int64            // the highest id of the events of toggles
	missing map[string]error // the error if an action fails because a resource does not exist

	projects map[string]accesstable.Condition // by id
	decision protection.Decision              // which permits the effects of the edits

	isPreparation bool     // it only clears flags, and the write must be repeated
	undecided     []string // toggles whose flags are to be decided by later transactions
}

// edit is a change of one toggle.
type edit struct {
	old, next toggle.Feature // without a Name: the toggle does not exist
	changes   []eventlog.Change
	effects   []protection.Effect
	lifetime  string // the type whose lifetime decided the flag, and must not change; empty: none

	removal *environment.Deletion // of an environment whose state the edit removes; nil: none
}

// The names of the actions of a transaction.
const (
	actionToggle   = "toggle"
	actionParent   = "parent" // or another toggle without an event of its own
	actionMarker   = "marker" // of a deleted toggle with the name
	actionEvent    = "event"
	actionLifetime = "lifetime"
	actionField    = "context field"
)

func (s *Store) transaction() *transaction {
	return &transaction{store: s, types: Types{}, fields: map[string]contextfield.ContextField{}}
}

// create adds the creation of a toggle, which changes record, and decides its flag. last is the id of the last event of
// a deleted toggle with the name.
func (t *transaction) create(ctx context.Context, next toggle.Feature, changes []eventlog.Change, last int64) error {
	next.PotentiallyStale = false
	e := t.add(toggle.Feature{LastEvent: last}, next)
	e.changes = slices.Clone(changes)
	e.effects = protection.EffectsOf(toggle.Feature{}, next)
	if err := t.check(ctx, e); err != nil {
		return err
	}
	return t.decide(ctx, e, "")
}

// change adds what a Change makes of a toggle.
func (t *transaction) change(ctx context.Context, old toggle.Feature, change Change) error {
	next, err := change(old)
	if err != nil {
		return err
	}
	next.Name = old.Name
	next.CreatedAt = old.CreatedAt
	next.CreatedBy = old.CreatedBy
	next.Children = old.Children
	t.store.stampArchived(old, &next)
	return t.update(ctx, old, next.Normalized())
}

// update adds the change of a toggle from old to next, and decides its flag if the change can affect it.
func (t *transaction) update(ctx context.Context, old, next toggle.Feature) error {
	next.PotentiallyStale = old.PotentiallyStale
	e := t.add(old, next)
	e.changes = changes(old, next)
	e.effects = protection.EffectsOf(old, next)
	if err := t.check(ctx, e); err != nil {
		return err
	}
	if reason := old.ClearReason(next); reason != "" {
		return t.decide(ctx, e, reason)
	}
	return nil
}

// reevaluate adds the flip of a toggle that is due.
func (t *transaction) reevaluate(ctx context.Context, f toggle.Feature) error {
	return t.decide(ctx, t.add(f, f), toggle.ReasonLifetimeChanged)
}

// remove adds the deletion of a toggle.
func (t *transaction) remove(ctx context.Context, old toggle.Feature) error {
	e := t.add(old, toggle.Feature{})
	e.effects = protection.EffectsOf(old, toggle.Feature{})
	if old.PotentiallyStale {
		kind, err := t.typeOf(ctx, old.Type)
		if err != nil {
			return err
		}
		e.changes = append(e.changes, stalenessindex.FlipChange(old, kind.LifetimeDays, toggle.ReasonDeleted, nil))
	}
	e.changes = append(e.changes, featuretable.Change(old, eventlog.FeatureDeleted, nil, old.JSON()))
	return nil
}

// add adds an edit without events.
func (t *transaction) add(old, next toggle.Feature) *edit {
	next.LastEvent = old.LastEvent
	next.TrackStage(old, t.store.log.Now())
	e := &edit{old: old, next: next}
	t.edits = append(t.edits, e)
	return e
}

// decide decides the flag of the toggle of an edit, and adds the flip if the flag changes.
func (t *transaction) decide(ctx context.Context, e *edit, reason toggle.ClearReason) error {
	e.next.PotentiallyStale = false
	log := t.store.log
	if !log.Discards() && e.next.CanBecomeStale() && e.next.Type != "" { // otherwise re-evaluation decides it
		kind, err := t.typeOf(ctx, e.next.Type)
		if err != nil {
			return err
		}
		e.lifetime = kind.ID
		e.next.PotentiallyStale = e.next.IsPotentiallyStale(kind.LifetimeDays, log.Now())
	}
	if e.next.PotentiallyStale == e.old.PotentiallyStale {
		return nil
	}
	kind, err := t.typeOf(ctx, e.next.Type)
	if e.next.PotentiallyStale {
		reason = ""
	}
	e.changes = append(e.changes, stalenessindex.FlipChange(e.next, kind.LifetimeDays, reason, nil))
	return err
}

// typeOf reads a type once. One that does not exist has no lifetime.
func (t *transaction) typeOf(ctx context.Context, id string) (toggle.Type, error) {
	if kind, ok := t.types[id]; ok {
		return kind, nil
	}
	kind, _, err := t.store.Type(ctx, id)
	t.types[id] = kind
	return kind, err
}

// build returns the actions, or nil if nothing changes.
func (t *transaction) build(ctx context.Context) ([]types.TransactWriteItem, error) {
	t.actions = dynamo.Actions{}
	t.missing = map[string]error{}
	t.last = t.lastOfFamily()
	after := t.last
	for _, e := range t.edits {
		if len(e.changes) == 0 && e.removal == nil {
			continue
		}
		if err := t.write(ctx, e, after); err != nil {
			return nil, err
		}
	}
	t.writeParents()
	if len(t.actions.List()) == 0 {
		return nil, nil
	}
	for _, r := range t.store.relations() {
		if err := r.addTo(ctx, t); err != nil {
			return nil, err
		}
	}
	t.addTagTypes()
	t.addFields()
	t.addProjects()
	t.addProtections()
	for _, id := range t.lifetimes() {
		t.actions.Add(actionLifetime, t.store.types.Unchanged(t.types[id]))
	}
	actions := t.actions.List()
	if n := bytesOf(actions); len(t.edits) > 1 && n > dynamo.MaxTransaction {
		return nil, tooManyChanges(n, "bytes", dynamo.MaxTransaction)
	}
	return actions, nil
}

// bytesOf returns the size of the items that actions write.
func bytesOf(actions []types.TransactWriteItem) int {
	n := 0
	for _, a := range actions {
		if a.Put != nil {
			n += dynamo.Item(a.Put.Item).Size()
		}
		if a.Update != nil {
			n += dynamo.Item(a.Update.ExpressionAttributeValues).Size()
		}
	}
	return n
}

// write adds the actions that write the toggle of an edit and record the changes. The ids of the events are higher than
// after.
func (t *transaction) write(ctx context.Context, e *edit, after int64) error {
	last := max(e.old.LastEvent, after)
	var records []types.TransactWriteItem
	for _, c := range e.changes {
		c.Last, c.PermittedBy = last, t.permittedBy(e, c)
		id, record, err := t.store.log.RecordActions(ctx, c)
		if err != nil {
			return err
		}
		last = id
		t.last = max(t.last, id)
		records = append(records, record...)
	}
	if e.removal != nil {
		last = max(last+1, e.removal.Event)
		t.actions.Add(actionDeletion, t.store.environments.CheckDeletion(*e.removal))
	}
	table := t.store.table
	switch {
	case e.old.Name == "":
		e.next.LastEvent = last
		t.actions.Add(actionToggle, dynamo.NewItem(table, featuretable.Hash, featuretable.Marshal(e.next)))
		t.actions.Add(actionMarker, t.store.log.CheckMarkerActions(featuretable.Subject(e.next), last)...)
	case e.next.Name == "":
		t.actions.Add(actionToggle, dynamo.DeleteItem(table, featuretable.Key(e.old.Name), e.unchanged()))
		t.actions.Add(actionMarker, t.store.log.PutMarkerActions(featuretable.Subject(e.old), last, e.old.Project)...)
	default:
		e.next.LastEvent = last
		t.actions.Add(actionToggle, t.replace(e))
	}
	t.actions.Add(actionEvent, records...)
	return nil
}

// unchanged is the condition that the toggle of an edit has not changed since it was read.
func (e *edit) unchanged() expression.ConditionBuilder {
	return eventlog.ExistsWithLast(featuretable.Hash, e.old.LastEvent)
}

// replace returns the action that replaces the toggle of an edit.
func (t *transaction) replace(e *edit) types.TransactWriteItem {
	return dynamo.UpdateItem(t.store.table, featuretable.Key(e.next.Name),
		expression.NewBuilder().WithCondition(e.unchanged()).WithUpdate(featuretable.Replacement(e.next)))
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

// flips reports whether an edit changes the flag. Its last change is the flip.
func (e *edit) flips() bool { return e.old.PotentiallyStale != e.next.PotentiallyStale }

// size returns the number of actions of the changes of several toggles that exist, without flips, with their flips, and
// with the conditions on types.
func (t *transaction) size() (withoutFlips, whole int) {
	withoutFlips = len(t.newTagTypes()) + len(t.fields) + len(t.projectConditions()) + len(t.guarded())
	for _, r := range t.store.relations() {
		withoutFlips += r.size(t)
	}
	whole = withoutFlips + len(t.lifetimes())
	for _, e := range t.edits {
		n := len(e.changes)
		if n > 0 || e.changesChildren() {
			whole += 1 + n
		}
		if e.flips() {
			n--
		}
		if n > 0 || e.changesChildren() {
			withoutFlips += 1 + n
		}
	}
	return withoutFlips, whole
}

// reduce returns the transaction, if it has at most dynamo.MaxActions actions. Otherwise it returns a preparation that
// clears the flags that the change clears. If there are none, it takes the decisions about flags out of the
// transaction, and returns it with undecided toggles. It returns ErrTooManyChanges if this is not enough. A transaction
// of one toggle is never reduced.
func (t *transaction) reduce() (*transaction, error) {
	if len(t.edits) == 1 {
		return t, nil
	}
	withoutFlips, whole := t.size()
	if whole <= dynamo.MaxActions {
		return t, nil
	}
	if withoutFlips > dynamo.MaxActions {
		return nil, tooManyChanges(withoutFlips, "actions", dynamo.MaxActions)
	}
	if preparation := t.preparation(); len(preparation.edits) > 0 {
		return preparation, nil
	}
	t.leaveFlags()
	return t, nil
}

// tooManyChanges returns the error if a transaction of n actions or bytes exceeds the maximum.
func tooManyChanges(n int, unit string, maximum int) error {
	return &apierror.Error{
		Kind: apierror.Validation,
		Message: fmt.Sprintf("The change is too large for one transaction: it needs %d %s, and the maximum is %d. "+
			"Send fewer toggles.", n, unit, maximum),
		Cause: fmt.Errorf("%w: it would have %d %s, the maximum is %d", ErrTooManyChanges, n, unit, maximum),
	}
}

// preparation returns the transaction that clears the flags that the change clears.
func (t *transaction) preparation() *transaction {
	p := t.store.transaction()
	p.isPreparation = true
	for _, e := range t.edits {
		if !e.old.PotentiallyStale || !e.flips() {
			continue
		}
		cleared := e.old
		cleared.PotentiallyStale = false
		p.add(e.old, cleared).changes = e.changes[len(e.changes)-1:]
	}
	return p
}

// leaveFlags takes the decisions about flags out of the transaction.
func (t *transaction) leaveFlags() {
	for _, e := range t.edits {
		if e.lifetime == "" {
			continue
		}
		e.lifetime = ""
		t.undecided = append(t.undecided, e.next.Name)
		if e.flips() {
			e.next.PotentiallyStale = false
			e.changes = e.changes[:len(e.changes)-1]
		}
	}
}

// missingResource returns the error if a transaction failed because of a project, or only because resources that toggles
// use do not exist. It names one of them.
func (t *transaction) missingResource(failures []dynamo.Failure) error {
	if err := t.unmetProject(failures); err != nil {
		return err
	}
	failed := t.actions.Failed(failures)
	var missing error
	for _, action := range slices.Sorted(maps.Keys(failed)) {
		err, isResource := t.missing[action]
		if !isResource || failed[action].Item != nil {
			return nil // the next attempt reads them again
		}
		if missing == nil {
			missing = err
		}
	}
	return missing
}
