package project

import (
	"context"
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/api/environment"
	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/accesstable"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/dynamo"
)

// environmentData is the environment of an event.
type environmentData struct {
	Environment           string `json:"environment"`
	ChangeRequestsEnabled bool   `json:"changeRequestsEnabled"` // in the project
}

// AddEnvironment lets the toggles of a project be switched in an environment. changeRequests is whether changes need change
// requests there; nil: as before. The kind of its error is NotFound if there is no project, Validation if there is no
// environment, or Conflict if the project has the environment.
func (s *Store) AddEnvironment(
	ctx context.Context, id, name string, changeRequests *bool, environments *environment.Store,
) error {
	err := s.changeEnvironments(ctx, id, name, environments, func(
		p *access.Project, all []environment.Environment, actions *dynamo.Actions,
	) error {
		i := indexOf(all, name)
		switch {
		case i < 0:
			return apierror.Invalid(apierror.At("/body/environment", "must be the name of an environment; you sent %q",
				apierror.Echo(name)))
		case p.HasEnvironment(name):
			return apierror.Errorf(apierror.Conflict, "The project %q has the environment %q.", id, name)
		}
		p.Environments = append(slices.Clone(p.Environments), name)
		protection := p.ProtectionOf(name)
		if changeRequests == nil || *changeRequests == protection.ChangeRequests {
			return nil
		}
		if n := all[i].RequiredApprovals; n > 0 && !*changeRequests {
			return mustBeProtected(n)
		}
		if err := access.CheckProject(ctx, id, access.WriteChangeRequestConfig); err != nil {
			return err
		}
		protection.ChangeRequests = *changeRequests
		setProtection(p, name, protection)
		actions.Add(actionProtections, accesstable.CountProtection(s.table()))
		return nil
	}, eventlog.ProjectEnvironmentAdded)
	if err != nil {
		return fmt.Errorf("add the environment %q to the project %q: %w", name, id, err)
	}
	return nil
}

// RemoveEnvironment ends that the toggles of a project can be switched in an environment. The kind of its error is
// NotFound if there is no project or it does not have the environment, that of precondition, which receives the project, or
// Conflict while a toggle of the project is on in the environment.
func (s *Store) RemoveEnvironment(
	ctx context.Context, id, name string, environments *environment.Store, precondition Precondition,
) error {
	references := environment.ReferencesStore(s.client, s.tables)
	err := s.changeEnvironments(ctx, id, name, environments, func(
		p *access.Project, all []environment.Environment, actions *dynamo.Actions,
	) error {
		i := indexOf(all, name)
		if i < 0 {
			return environment.NotFound(name)
		}
		if err := environment.CheckProject(p, name); err != nil {
			return err
		}
		if err := precondition(p); err != nil {
			return err
		}
		if n := all[i].References.ByProject[id]; n > 0 {
			return apierror.Errorf(apierror.Conflict,
				"The number of toggles of the project %q that are on in the environment %q is %d. Turn them off first.", id, name, n)
		}
		left := []string{}
		for _, e := range all {
			if e.Name != name && p.HasEnvironment(e.Name) {
				left = append(left, e.Name)
			}
		}
		p.Environments = left
		actions.Add(actionReferences, references.UnusedIn(name, id))
		return nil
	}, eventlog.ProjectEnvironmentRemoved)
	if err != nil {
		return fmt.Errorf("remove the environment %q from the project %q: %w", name, id, err)
	}
	return nil
}

func indexOf(all []environment.Environment, name string) int {
	return slices.IndexFunc(all, func(e environment.Environment) bool { return e.Name == name })
}

// changeEnvironments writes what edit changes, with an event. edit receives all environments, and can add conditions.
func (s *Store) changeEnvironments(
	ctx context.Context, id, name string, environments *environment.Store,
	edit func(*access.Project, []environment.Environment, *dynamo.Actions) error, t eventlog.Type,
) error {
	return s.log.RetryTransact(ctx, func() ([]types.TransactWriteItem, error) {
		old, err := s.Get(ctx, id)
		if err != nil {
			return nil, err
		}
		all, err := environments.List(ctx)
		if err != nil {
			return nil, err
		}
		next := *old
		var actions dynamo.Actions
		if err := edit(&next, all, &actions); err != nil {
			return nil, err
		}
		var data, preData any = environmentData{name, next.ProtectionOf(name).ChangeRequests}, nil
		if t == eventlog.ProjectEnvironmentRemoved {
			data, preData = preData, data
		}
		if err := s.replace(ctx, &actions, old, &next, unchanged(old), t, data, preData); err != nil {
			return nil, err
		}
		return actions.List(), nil
	}, nil)
}
