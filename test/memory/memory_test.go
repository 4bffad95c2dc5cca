package memory_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"toggleadmin/pkg/apierror"
	"toggleadmin/pkg/feedback"
	"toggleadmin/pkg/pat"
	"toggleadmin/pkg/user"
	"toggleadmin/test/memory"
)

// That a Memory keeps the stores' contract is shown by test/stores; here is how it fails.

var errDown = errors.New("down")

func isUnavailable(err error) bool {
	e, ok := errors.AsType[*apierror.Error](err)
	return ok && e.Kind == apierror.Unavailable
}

func TestFailedWrites(t *testing.T) {
	t.Parallel()
	for name, persists := range map[string]bool{"without a trace": false, "yet persisting": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			failing := ""
			m := memory.New(memory.Hooks{Write: func(operation string) (bool, error) {
				if operation == failing {
					return persists, errDown
				}
				return true, nil
			}})
			if err := m.Users.Create(t.Context(), user.User{ID: 1, Kind: user.ServiceAccount}); err != nil {
				t.Fatal(err)
			}
			failing = "PATs.Create"
			p := pat.PAT{UserID: 1, Description: "ci", ExpiresAt: time.Unix(1, 0)}
			made, _, err := m.PATs.Create(t.Context(), p, pat.Owner{Kind: user.ServiceAccount, Limit: 1})
			if !isUnavailable(err) || !errors.Is(err, errDown) || made.ID != 0 {
				t.Errorf("PAT %d, error %v", made.ID, err)
			}
			if _, _, err := m.Tokens.PAT(t.Context(), 1, 1); errors.Is(err, pat.ErrNotFound) == persists {
				t.Errorf("error %v", err)
			}
			failing = "Feedback.Update"
			if _, err := m.Feedback.Update(t.Context(), "f", 1, feedback.Change{NeverShow: new(true)}); !isUnavailable(err) {
				t.Error(err)
			}
			failing = ""
			f, err := m.Feedback.Update(t.Context(), "f", 1, feedback.Change{})
			if err != nil || f.NeverShow != persists {
				t.Errorf("%v, error %v", f, err)
			}
		})
	}
}

func TestFailedReads(t *testing.T) {
	t.Parallel()
	m := memory.New(memory.Hooks{Read: func(operation string) error {
		switch operation {
		case "Users.Get":
			return errDown
		case "FeatureTypes.List":
			return apierror.New(apierror.NoAccess, "text")
		}
		return nil
	}})
	if _, err := m.Users.Get(t.Context(), 1); !isUnavailable(err) || !errors.Is(err, errDown) {
		t.Error(err)
	}
	if _, err := m.Users.Exists(t.Context(), 1); err != nil {
		t.Error(err)
	}
	if _, err := m.FeatureTypes.List(t.Context()); apierror.From(err).Kind != apierror.NoAccess {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := m.Users.Exists(ctx, 1); !isUnavailable(err) {
		t.Error(err)
	}
	if err := m.Users.SetDisabled(ctx, 1, true); !isUnavailable(err) {
		t.Error(err)
	}
}
