package project

import (
	"context"
	"fmt"
	"maps"
	"reflect"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/api/environment"
	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/accesstable"
	"toggleadmin/pkg/platform/dynamo"
)

// configData is a protection in the data of events, without the freeze.
type configData struct {
	ChangeRequestsEnabled bool   `json:"changeRequestsEnabled"`
	RequiredApprovals     *int64 `json:"requiredApprovals"` // null: as many as the environment requires, or 1
	AllowTurningOff       bool   `json:"allowTurningOff"`
}

func newConfigData(p access.Protection) configData {
	data := configData{ChangeRequestsEnabled: p.ChangeRequests, AllowTurningOff: !p.ForbidsTurningOff}
	if p.RequiredApprovals > 0 {
		data.RequiredApprovals = &p.RequiredApprovals
	}
	return data
}

// SetConfig replaces the protection of an environment of a project, without the freeze. precondition receives the project;
// its error is returned. The kind of the error is NotFound if there is no project.
func (s *Store) SetConfig(
	ctx context.Context, id, environment string, next access.Protection, precondition Precondition,
) error {
	return s.EditConfig(ctx, id, environment, func(access.Protection) access.Protection { return next }, precondition)
}

// EditConfig is SetConfig for the protection that edit returns for the one that is stored. If it changes meanwhile, edit is
// called again.
func (s *Store) EditConfig(
	ctx context.Context, id, environment string, edit func(access.Protection) access.Protection, precondition Precondition,
) error {
	err := s.protect(ctx, id, environment, precondition, func(p *access.Protection) error {
		next := edit(*p)
		next.Freeze = p.Freeze
		*p = next
		return nil
	}, func(change changeIn, old, next access.Protection) eventlog.Change {
		return change(eventlog.ChangeRequestConfigUpdated, newConfigData(next), newConfigData(old))
	})
	if err != nil {
		return fmt.Errorf("protect the environment %q of the project %q: %w", environment, id, err)
	}
	return nil
}

// SetFreeze freezes an environment of a project, or ends the freeze if freeze is nil. The kind of its error is NotFound if
// there is no project, or no freeze to end.
func (s *Store) SetFreeze(ctx context.Context, id, name string, freeze *access.Freeze) error {
	err := s.protect(ctx, id, name, Always, func(p *access.Protection) error {
		if freeze == nil && environment.Current(p.Freeze, s.log.Now()) == nil {
			return notFrozen(id, name)
		}
		p.Freeze = freeze
		return nil
	}, func(change changeIn, old, next access.Protection) eventlog.Change {
		return environment.FreezeChange(change, old.Freeze, next.Freeze)
	})
	if err != nil {
		return fmt.Errorf("freeze the environment %q of the project %q: %w", name, id, err)
	}
	return nil
}

// changeIn returns the event of a change of an environment of a project.
type changeIn = func(t eventlog.Type, data, preData any) eventlog.Change

// protect writes what edit changes of the protection of an environment of a project, with the event that record returns.
// It does nothing if edit changes nothing.
func (s *Store) protect(
	ctx context.Context, id, environment string, precondition Precondition, edit func(*access.Protection) error,
	record func(change changeIn, old, next access.Protection) eventlog.Change,
) error {
	return s.log.RetryTransact(ctx, func() ([]types.TransactWriteItem, error) {
		old, err := s.Get(ctx, id)
		if err != nil {
			return nil, err
		}
		if err := precondition(old); err != nil {
			return nil, err
		}
		before := old.ProtectionOf(environment)
		after := before
		if err := edit(&after); err != nil || reflect.DeepEqual(before, after) {
			return nil, err
		}
		next := *old
		setProtection(&next, environment, after)
		var actions dynamo.Actions
		err = s.replaceWith(ctx, &actions, &next, unchanged(old), record(func(
			t eventlog.Type, data, preData any,
		) eventlog.Change {
			c := Change(t, old, data, preData)
			c.Environment = environment
			return c
		}, before, after))
		if err != nil {
			return nil, err
		}
		actions.Add(actionProtections, accesstable.CountProtection(s.table()))
		return actions.List(), nil
	}, nil)
}

// setProtection sets the protection of an environment of a project.
func setProtection(p *access.Project, environment string, protection access.Protection) {
	all := maps.Clone(p.Protections)
	if all == nil {
		all = map[string]access.Protection{}
	}
	all[environment] = protection
	if protection == (access.Protection{}) {
		delete(all, environment)
	}
	p.Protections = all
}
