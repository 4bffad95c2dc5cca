package stores_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"toggleadmin/pkg/authorizer"
	"toggleadmin/pkg/user"
	"toggleadmin/test/database"
)

// TestUnprocessedKeys: what a BatchGetItem leaves out of its answer is asked for again.
func TestUnprocessedKeys(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		leave func(n int, table, pats string) bool // out of answer n
		calls int
		fails bool
	}{
		{"everything, once", func(n int, _, _ string) bool { return n == 1 }, 2, false},
		{"the PAT, once", func(n int, table, pats string) bool { return n == 1 && table == pats }, 2, false},
		{"the user, twice", func(n int, table, pats string) bool { return n <= 2 && table != pats }, 3, false},
		{"for ever", func(int, string, string) bool { return true }, 0, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			db := newFixture(t)
			account(t, db, 1, user.ServiceAccount)
			create(t, db, 1, "ci")
			client, tap := db.Through(t, func(c *database.Call) (*http.Response, error) {
				var request struct{ RequestItems map[string]json.RawMessage }
				if err := json.Unmarshal([]byte(c.Body), &request); err != nil {
					return nil, err
				}
				left := map[string]json.RawMessage{}
				for table, keys := range request.RequestItems {
					if tt.leave(c.N, table, db.Tables.PersonalAccessTokens) {
						left[table] = keys
						delete(request.RequestItems, table)
					}
				}
				responses := []byte(`{}`)
				if len(request.RequestItems) > 0 {
					body, err := json.Marshal(request)
					if err != nil {
						return nil, err
					}
					c.Body = string(body)
					answer, err := c.Pass()
					if err != nil {
						return nil, err
					}
					defer answer.Body.Close()
					var got struct{ Responses json.RawMessage }
					if err := json.NewDecoder(answer.Body).Decode(&got); err != nil {
						return nil, err
					}
					responses = got.Responses
				}
				unprocessed, err := json.Marshal(left)
				if err != nil {
					return nil, err
				}
				return c.Reply(http.StatusOK, fmt.Sprintf(`{"Responses":%s,"UnprocessedKeys":%s}`, responses, unprocessed))
			})
			deadline := 10 * time.Second
			if tt.fails {
				deadline = 100 * time.Millisecond
			}
			ctx, cancel := context.WithTimeout(t.Context(), deadline)
			defer cancel()
			p, u, err := authorizer.NewStore(client, db.Tables).PAT(ctx, 1, 1)
			if tt.fails {
				unavailable(t, err)
				return
			}
			check(t, err)
			if p.ID != 1 || u.ID != 1 || strings.Count(tap.Calls(), "BatchGetItem") != tt.calls {
				t.Errorf("PAT %d, user %d, %v", p.ID, u.ID, tap.Calls())
			}
		})
	}
}
