package ascode

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"toggleadmin/pkg/operator/apiclient"
)

// Outcome is what became of one step of a plan, or of the change request for an environment.
type Outcome struct {
	Ref

	Environment string `json:"environment,omitempty"`     // of a change request, or the part of a project that was to change
	Group       string `json:"group,omitempty"`           // whose roles in a project were to change
	Canceled    bool   `json:"canceled,omitempty"`        // the change request
	Changed     bool   `json:"changedByOthers,omitempty"` // somebody else changed the resource since the plan: nothing was done
	Error       string `json:"error,omitempty"`           // why nothing was done
}

// Apply makes the steps of a plan, each as a whole or not at all, and calls done after each. A step that fails does not
// prevent the others. Changes of toggles in protected environments are collected in one change request for each environment
// of a project. A segment that is used in one has a change request of its own. After an interruption, a new plan has what is
// left.
//
// What toggles share is changed before them. If that is a conflict, such as a legal value that is removed and that a
// strategy uses until its toggle is changed, it is tried again after all toggles.
func (c *Client) Apply(ctx context.Context, p Plan, done func(Outcome)) error {
	asked := map[place][]asking{}
	var later []Step
	for _, s := range p.Steps {
		err := c.applyStep(ctx, &s)
		if refused, ok := errors.AsType[*apiclient.Error](err); ok && isConflict(refused) && s.isShared() {
			later = append(later, s)
			continue
		}
		for _, at := range s.places() {
			if err == nil {
				asked[at] = append(asked[at], s.asking(at.environment)...)
			}
		}
		if err := report(s, err, done); err != nil {
			return err
		}
	}
	for _, s := range later {
		if err := report(s, c.applyStep(ctx, &s), done); err != nil {
			return err
		}
	}
	inOrder := func(a, b place) int {
		return cmp.Or(strings.Compare(a.project, b.project), strings.Compare(a.environment, b.environment),
			cmp.Compare(a.segment, b.segment))
	}
	for _, at := range slices.SortedFunc(maps.Keys(asked), inOrder) {
		r, err := c.ask(ctx, at, p.source, asked[at])
		o := Outcome{Ref: Ref{Kind: KindRequest, Project: r.Project}, Environment: r.Environment}
		if refused, ok := errors.AsType[*apiclient.Error](err); ok {
			o.Error = refused.Message
		} else if err != nil {
			return err
		}
		if r.ID != 0 {
			o.Name = strconv.FormatInt(r.ID, 10)
		}
		done(o)
	}
	return nil
}

// applyStep makes the changes of a step that need no change request.
func (c *Client) applyStep(ctx context.Context, s *Step) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return s.action.apply(ctx, c, s)
}

// report calls done with the outcome of a step, unless a change request follows for all of it. It returns an error that
// ends an apply.
func report(s Step, err error, done func(Outcome)) error {
	o := Outcome{Ref: s.Ref}
	switch a := s.action.(type) {
	case *changeEnvironment:
		o.Environment = a.environment
	case *setRoles:
		o.Group = a.group
	}
	refused, ok := errors.AsType[*apiclient.Error](err)
	switch {
	case ok:
		o.Changed = isChangedByOthers(refused)
		o.Error = refused.Message
	case err != nil:
		return err
	case s.Kind == KindRequest:
		o.Environment, o.Canceled = s.Changes[0].Environment, true
	}
	if err != nil || !s.onlyAsks() {
		done(o)
	}
	return nil
}

// isConflict reports whether a resource cannot be changed as long as others are as they are.
func isConflict(e *apiclient.Error) bool {
	return e.Status == http.StatusConflict && !isChangedByOthers(e)
}

// isShared reports whether toggles share the resource of the step.
func (s Step) isShared() bool { return s.Kind != KindToggle && s.Kind != KindRequest }

// onlyAsks reports whether all changes of a step need change requests.
func (s Step) onlyAsks() bool {
	if _, ok := s.action.(*askSegment); ok {
		return true
	}
	return !slices.ContainsFunc(s.Changes, func(c Change) bool { return s.request(c) == "" })
}
