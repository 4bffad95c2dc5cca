package trust

import (
	"context"
	"fmt"

	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/platform/accesstable"
	"toggleadmin/pkg/platform/consistency"
)

// Check compares the trusts with their accounts and with the counter of their ids. It is a consistency.Check.
func (s *Store) Check(ctx context.Context) (summary string, found []consistency.Inconsistency, err error) {
	all, err := s.list(ctx) // before the accounts: the deletion of an account ends with it
	if err != nil {
		return "", nil, err
	}
	accounts, err := s.users.List(ctx)
	if err != nil {
		return "", nil, err
	}
	deleting, err := s.users.Unfinished(ctx)
	if err != nil {
		return "", nil, err
	}
	exists := map[int64]bool{}
	for _, u := range append(accounts, deleting...) {
		exists[u.ID] = u.Kind == user.ServiceAccount
	}
	highest, err := eventlog.NewReader(s.log).HighestID(ctx, eventlog.ServiceAccountTrustCreated)
	if err != nil {
		return "", nil, err
	}
	for _, t := range all {
		highest = max(highest, t.ID)
		if !exists[t.AccountID] {
			found = append(found, consistency.Inconsistency{
				Text:   fmt.Sprintf("the trust %d belongs to the service account %d, which does not exist", t.ID, t.AccountID),
				Repair: func(ctx context.Context) error { return s.deleteUnowned(ctx, t) },
			})
		}
	}
	counter, err := s.access.CheckCounter(ctx, accesstable.KindTrust, highest)
	if err != nil {
		return "", nil, err
	}
	return fmt.Sprintf("%d trusts of service accounts, consistent with their accounts", len(all)), append(found, counter...), nil
}
