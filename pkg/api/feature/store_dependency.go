package feature

import (
	"context"
	"fmt"
	"reflect"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/api/featuretable"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/toggle"
)

// maxChildren is the maximum number of toggles that depend on a toggle, whose item contains their names.
const maxChildren = 500

// relate adds the changes of parents to which the dependencies of changed toggles lead. It returns an error if a
// dependency is not possible, or if a toggle with children is archived, deleted or moved to another project.
func (t *transaction) relate(ctx context.Context) error {
	changed := slices.Clone(t.edits)
	for _, e := range changed {
		if err := t.leaveParent(ctx, e); err != nil {
			return err
		}
	}
	for _, e := range changed {
		if err := t.joinParent(ctx, e); err != nil {
			return err
		}
	}
	for _, e := range changed {
		if err := e.checkChildren(); err != nil {
			return err
		}
	}
	return nil
}

// leaveParent removes the toggle of an edit from the children of the parent that it no longer depends on.
func (t *transaction) leaveParent(ctx context.Context, e *edit) error {
	before, after := e.old.Dependency, e.next.Dependency
	if before == nil || after != nil && before.Feature == after.Feature {
		return nil
	}
	parent, err := t.related(ctx, before.Feature)
	if apierror.KindOf(err) == apierror.NotFound { // doctor reports it
		return nil
	}
	if err != nil {
		return err
	}
	parent.next.Children = slices.DeleteFunc(slices.Clone(parent.next.Children), func(name string) bool {
		return name == e.old.Name
	})
	return nil
}

// joinParent adds the toggle of an edit to the children of the parent that it depends on, if that changes.
func (t *transaction) joinParent(ctx context.Context, e *edit) error {
	before, after := e.old.Dependency, e.next.Dependency
	if after == nil || reflect.DeepEqual(before, after) && e.old.Project == e.next.Project {
		return nil
	}
	if before != nil && e.old.Project != e.next.Project {
		return apierror.Errorf(apierror.Conflict, "The toggle %q depends on the toggle %q of the project %q. Remove the "+
			"dependency before you move the toggle.", apierror.Echo(e.old.Name), apierror.Echo(before.Feature), e.old.Project)
	}
	parent, err := t.related(ctx, after.Feature)
	if apierror.KindOf(err) == apierror.NotFound {
		return NotFound(e.next.Project, after.Feature)
	}
	if err != nil {
		return err
	}
	if err := CheckDependency(e.next, parent.next); err != nil {
		return &PartError{"", err}
	}
	if !slices.Contains(parent.next.Children, e.next.Name) {
		parent.next.Children = slices.Sorted(slices.Values(append(slices.Clone(parent.next.Children), e.next.Name)))
	}
	return nil
}

// related returns the edit of a toggle. If the transaction does not have it, it reads the toggle and adds an edit
// without events. The kind of its error is NotFound if there is no such toggle.
func (t *transaction) related(ctx context.Context, name string) (*edit, error) {
	for _, e := range t.edits {
		if e.next.Name == name {
			return e, nil
		}
	}
	f, err := t.store.InProject("").Get(ctx, name)
	if err != nil {
		return nil, err
	}
	return t.add(f, f), nil
}

// CheckDependency returns an error if a toggle cannot have its dependency on a parent: the kind is NotFound if the
// parent belongs to another project, Validation if the toggle is its own parent or the dependency names a variant that
// the parent does not have, and Conflict if the parent is archived, or if one of them would have a parent and children.
func CheckDependency(child, parent toggle.Feature) error {
	switch {
	case parent.Name == child.Name:
		return apierror.Invalid(apierror.At("/body/feature", "must not be the name of the toggle itself").Sent(parent.Name))
	case parent.Project != child.Project:
		return NotFound(child.Project, parent.Name)
	case parent.Archived:
		return apierror.Errorf(apierror.Conflict, "The toggle %q is archived. No toggle can depend on it.",
			apierror.Echo(parent.Name))
	case parent.Dependency != nil:
		return apierror.Errorf(apierror.Conflict, "The toggle %q depends on the toggle %q. No toggle can depend on it.",
			apierror.Echo(parent.Name), apierror.Echo(parent.Dependency.Feature))
	case len(child.Children) > 0:
		return apierror.Errorf(apierror.Conflict, "Other toggles depend on the toggle %q: %s. It cannot depend on a toggle.",
			apierror.Echo(child.Name), apierror.Listed(child.Children))
	case !slices.Contains(parent.Children, child.Name) && len(parent.Children) >= maxChildren:
		return apierror.Invalid(apierror.At("/body/feature", "is the toggle %q, on which %d toggles depend, which is the "+
			"maximum. Remove a dependency first", apierror.Echo(parent.Name), len(parent.Children)))
	}
	known := parent.VariantNames()
	for i, name := range child.Dependency.Variants {
		if !slices.Contains(known, name) {
			return apierror.Invalid(apierror.At(fmt.Sprintf("/body/variants/%d", i),
				"must be the name of a variant of the toggle %q", apierror.Echo(parent.Name)).Sent(name))
		}
	}
	return nil
}

// checkChildren returns an error if an edit archives, deletes or moves a toggle with children.
func (e *edit) checkChildren() error {
	children := e.next.Children
	change := ""
	switch {
	case e.next.Name == "":
		children, change = e.old.Children, "deleted"
	case e.next.Archived:
		change = "archived"
	case e.old.Name != "" && e.old.Project != e.next.Project:
		change = "moved to another project"
	}
	if change == "" || len(children) == 0 {
		return nil
	}
	return apierror.Errorf(apierror.Conflict, "The toggle %q cannot be %s, because other toggles depend on it: %s. Remove "+
		"their dependencies first.", apierror.Echo(e.old.Name), change, apierror.Listed(children))
}

// changesChildren reports whether the edit changes the children of the toggle.
func (e *edit) changesChildren() bool {
	return e.old.Name != "" && e.next.Name != "" && !slices.Equal(e.old.Children, e.next.Children)
}

// lastOfFamily returns the id after which the events of a change of a parent's children are: the highest one of the
// last events of the toggles. It is 0 if no children change.
func (t *transaction) lastOfFamily() (last int64) {
	if !slices.ContainsFunc(t.edits, (*edit).changesChildren) {
		return 0
	}
	for _, e := range t.edits {
		last = max(last, e.old.LastEvent)
	}
	return last
}

// writeParents adds the actions that write toggles of which only the children change. The version of such a toggle is
// the event of the child.
func (t *transaction) writeParents() {
	for _, e := range t.edits {
		if len(e.changes) > 0 || e.removal != nil || !e.changesChildren() {
			continue
		}
		e.next.LastEvent = max(t.last, e.old.LastEvent+1)
		t.actions.Add(actionParent, t.replace(e))
	}
}

// repairChildren makes the children of a toggle those that depend on it. candidates are all of them, and can be more.
// It is not recorded.
func (s *Store) repairChildren(ctx context.Context, name string, candidates []string) error {
	return s.log.RetryTransact(ctx, func() ([]types.TransactWriteItem, error) {
		parent, err := s.Get(ctx, name)
		if apierror.KindOf(err) == apierror.NotFound {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		next := parent
		next.Children = nil
		names := slices.Compact(slices.Sorted(slices.Values(slices.Concat(candidates, parent.Children))))
		rows, err := featuretable.Read(ctx, s.client, s.table, names)
		if err != nil {
			return nil, err
		}
		for _, row := range rows {
			if d := row.Toggle.Dependency; d != nil && d.Feature == name {
				next.Children = append(next.Children, row.Toggle.Name)
			}
		}
		t := s.transaction()
		t.add(parent, next.Normalized())
		return t.build(ctx)
	}, nil)
}
