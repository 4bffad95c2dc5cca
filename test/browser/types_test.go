package browser_test

import (
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toggleadmin/pkg/local"
)

// lifetime returns the lifetime of a toggle type as the API reports it, nil for none.
func (s *service) lifetime(t *testing.T, id string) *int {
	t.Helper()
	_, list := send[struct {
		Types []struct {
			ID           string
			LifetimeDays *int
		}
	}](t, s, s.pat("viewer"), http.MethodGet, "/api/admin/feature-types", "")
	for _, item := range list.Types {
		if item.ID == id {
			return item.LifetimeDays
		}
	}
	t.Fatalf("there is no toggle type %s", id)
	return nil
}

func TestChangeALifetime(t *testing.T) {
	t.Parallel()
	b := openTab(t, start(t, local.Config{}))
	b.mayLog("status of 400")
	b.signIn("admin", "#/types")
	b.sees("40 days")

	b.click(button("Edit lifetime of Release"))
	b.replace(field("Days"), "soon")
	b.click(button("Save"))
	b.seesError(field("Days"), "Enter a whole number of days")
	b.replace(field("Days"), "99999999999")
	b.click(button("Save"))
	b.seesError(field("Days"), "99999999999") // the API's message
	b.replace(field("Days"), "14")
	b.sees("potentially stale 14 days after")
	b.click(button("Save"))
	b.sees("14 days")
	if diff := cmp.Diff(new(14), b.service.lifetime(t, "release")); diff != "" {
		t.Error(diff)
	}

	b.click(button("Edit lifetime of Release"))
	b.click(field("Never"))
	b.click(button("Save"))
	b.seesNo("14 days")
	b.await("the API has no lifetime", func() (bool, error) { return b.service.lifetime(t, "release") == nil, nil })
	b.reload()
	b.sees("Release")
	b.seesNo("14 days")
}
