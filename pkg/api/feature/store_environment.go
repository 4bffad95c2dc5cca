package feature

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"golang.org/x/sync/errgroup"

	"toggleadmin/pkg/api/environment"
	"toggleadmin/pkg/api/featuretable"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/pkg/toggle"
)

// removers is the number of toggles from which RemoveEnvironment removes the state at the same time.
const removers = 8

// errDeletionEnded means that another request has ended the deletion of an environment.
var errDeletionEnded = errors.New("the deletion of the environment has ended")

const actionDeletion = "deletion of the environment"

// RemoveEnvironment removes the state of an environment, whose deletion has begun, from all toggles. It releases the
// context fields and segments that the strategies use. It is recorded by the event of the environment alone. It can be
// repeated.
func (s *Store) RemoveEnvironment(ctx context.Context, d environment.Deletion) error {
	rows, err := featuretable.Scan(ctx, s.client, s.table, func(featuretable.Row) bool { return true })
	if err != nil {
		return err
	}
	features, err := featuretable.Features(rows)
	if err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(removers)
	for _, f := range features {
		if _, has := f.Environments[d.Name]; has {
			group.Go(func() error { return s.removeState(ctx, f.Name, d) })
		}
	}
	if err := group.Wait(); err != nil && !errors.Is(err, errDeletionEnded) {
		return fmt.Errorf("remove the environment %q from toggles: %w", d.Name, err)
	}
	return nil
}

// removeState removes the state of the environment from one toggle. The version of the toggle rises, so that no
// concurrent write brings the state back.
func (s *Store) removeState(ctx context.Context, name string, d environment.Deletion) error {
	var t *transaction
	err := s.log.RetryTransact(ctx, func() ([]types.TransactWriteItem, error) {
		old, err := s.Get(ctx, name)
		if apierror.KindOf(err) == apierror.NotFound {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		if _, has := old.Environments[d.Name]; !has {
			return nil, nil
		}
		next := old
		next.SetEnvironment(d.Name, toggle.Environment{})
		t = s.transaction()
		t.add(old, next.Normalized()).removal = &d
		return t.build(ctx)
	}, func(failures []dynamo.Failure) error {
		if t.actions.Failed(failures)[actionDeletion].Failed {
			return errDeletionEnded
		}
		return nil
	})
	return err
}
