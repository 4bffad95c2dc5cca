package environment

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/dynamo"
)

// SetFreeze freezes an environment in all projects, or ends the freeze if freeze is nil. The kind of its error is NotFound
// if there is no environment, or no freeze to end.
func (s *Store) SetFreeze(ctx context.Context, name string, freeze *access.Freeze) error {
	_, err := s.change(ctx, name, func(e *Environment) error {
		if freeze == nil && Current(e.Freeze, s.log.Now()) == nil {
			return NotFrozen(name)
		}
		e.Freeze = freeze
		return nil
	}, func(old, next Environment) eventlog.Change {
		return FreezeChange(old.change, old.Freeze, next.Freeze)
	})
	if err != nil {
		return fmt.Errorf("freeze environment %q: %w", name, err)
	}
	return nil
}

// Named returns the environments with the names that exist, without their references, by name. It is one consistent read
// of one item for each name.
func (s *Store) Named(ctx context.Context, names []string) (map[string]Environment, error) {
	keys := make([]dynamo.Item, len(names))
	for i, name := range names {
		keys[i] = key(name)
	}
	items, err := dynamo.GetAll(ctx, s.client, s.table, keys)
	if err != nil {
		return nil, fmt.Errorf("get environments: %w", err)
	}
	all := map[string]Environment{}
	for _, item := range items {
		e, deleted, err := fromItem(item)
		if err != nil {
			return nil, fmt.Errorf("get environments: %w", err)
		}
		if !deleted {
			all[e.Name] = e
		}
	}
	return all, nil
}

// Unchanged returns the condition that an environment has not changed since it was read. lastEvent is that of the
// environment, or 0 if there was none.
func (s *Store) Unchanged(name string, lastEvent int64) types.TransactWriteItem {
	return s.check(key(name), eventlog.HasLast(lastEvent))
}

// AllWithVersion returns all environments as List does, and the condition that none of them has changed since then.
func (s *Store) AllWithVersion(ctx context.Context) ([]Environment, types.TransactWriteItem, error) {
	version, err := s.version.Get(ctx)
	if err != nil {
		return nil, types.TransactWriteItem{}, fmt.Errorf("get the version of all environments: %w", err)
	}
	all, err := s.List(ctx)
	return all, s.version.Same(version), err
}

func (s *Store) check(key dynamo.Item, condition expression.ConditionBuilder) types.TransactWriteItem {
	return dynamo.CheckItem(s.table, key, condition)
}
