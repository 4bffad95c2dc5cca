package stores_test

import (
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toggleadmin/pkg/contextfield"
	"toggleadmin/pkg/feature"
)

// TestAWriteComesBetween: of two writes at once, whatever they change, neither is lost, and the toggle's place in the index is that of both.
func TestAWriteComesBetween(t *testing.T) {
	t.Parallel()
	changes := map[string]func(*feature.Feature){
		"project":         func(f *feature.Feature) { f.Project = "other" },
		"type":            func(f *feature.Feature) { f.Type = "operational" },
		"archived":        func(f *feature.Feature) { f.Archived = true },
		"marked as stale": func(f *feature.Feature) { f.Stale = true },
		"constraints":     func(f *feature.Feature) { f.ContextFields = []string{"a"} },
	}
	db := newDatabase(t)
	check(t, contextfield.NewStore(db.client, db.tables).Create(t.Context(), contextfield.ContextField{Name: "a"}))
	for first, change := range changes {
		for second, other := range changes {
			if first == second {
				continue
			}
			name := first + ", " + second
			write := func(t *testing.T, s *feature.Store, change func(*feature.Feature)) error {
				t.Helper()
				_, err := s.Update(t.Context(), name, func(f feature.Feature) feature.Feature { change(&f); return f })
				return err
			}
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				want := toggle(name)
				check(t, db.features(db.client).Create(t.Context(), want))
				client, _ := db.through(t, func(c *call) (*http.Response, error) {
					if c.operation == "TransactWriteItems" && c.n == 1 {
						if err := write(t, db.features(db.client), change); err != nil {
							return nil, err
						}
					}
					return c.pass()
				})
				check(t, write(t, db.features(client), other))
				change(&want)
				other(&want)
				got, err := db.features(db.client).Get(t.Context(), name)
				check(t, err)
				if diff := cmp.Diff(want, got); diff != "" {
					t.Error(diff)
				}
				found, err := db.flags(db.client).Due(t.Context(), rangeOf(want, false, nil), nil)
				check(t, err)
				in := false
				for _, f := range found.Toggles {
					in = in || f.Name == name
				}
				if in != (!want.Archived && !want.Stale) {
					t.Errorf("in the index: %t", in)
				}
			})
		}
	}
}
