package stores_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"syscall"
	"testing"
	"time"

	"toggleadmin/pkg/auth"
	"toggleadmin/pkg/local/engine/enginetest"
	"toggleadmin/pkg/user"
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
			db := filled(t, shared.endpoint)
			client, tap := db.through(t, func(c *call) (*http.Response, error) {
				var request struct{ RequestItems map[string]json.RawMessage }
				if err := json.Unmarshal([]byte(c.body), &request); err != nil {
					return nil, err
				}
				left := map[string]json.RawMessage{}
				for table, keys := range request.RequestItems {
					if tt.leave(c.n, table, db.names["PersonalAccessTokens"]) {
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
					c.body = string(body)
					answer, err := c.pass()
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
				return c.reply(http.StatusOK, fmt.Sprintf(`{"Responses":%s,"UnprocessedKeys":%s}`, responses, unprocessed))
			})
			deadline := 10 * time.Second
			if tt.fails {
				deadline = 100 * time.Millisecond
			}
			p, u, err := db.tokens(client).PAT(within(t, deadline), 1, 1)
			if tt.fails {
				unavailable(t, err)
				return
			}
			check(t, err)
			tap.mu.Lock()
			defer tap.mu.Unlock()
			if p.ID != 1 || u.ID != 1 || tap.count["BatchGetItem"] != tt.calls {
				t.Errorf("PAT %d, user %d, %v", p.ID, u.ID, tap.count)
			}
		})
	}
}

// TestEngineDies: the engine is killed, twice, under clients that create PATs. None of them notices, every PAT that they were told of
// is there, and there is no other.
func TestEngineDies(t *testing.T) {
	t.Parallel()
	if shared.external {
		t.Skip("the engine is somebody else's: it is not killed")
	}
	e := enginetest.StartIn(t, t.TempDir())
	db := newDatabaseAt(t, e.Endpoint())
	g := db.ground(t)
	for id := range int64(4) {
		account(t, g, id+1, user.ServiceAccount)
	}
	var mu sync.Mutex
	told := map[auth.Selector]auth.Verifier{}
	atOnce(clients, func(i int) {
		for n := range 4 {
			p, token, err := g.PATs.Create(within(t, 20*time.Second), newPAT(int64(i%4)+1, fmt.Sprint(i, " ", n)), owner(100))
			if err != nil {
				t.Error(err)
				return
			}
			mu.Lock()
			told[auth.PATSelector(p.UserID, p.ID)] = token.Verifier()
			kill := len(told) == clients || len(told) == 2*clients
			mu.Unlock()
			if kill {
				if err := syscall.Kill(e.PID(), syscall.SIGKILL); err != nil {
					t.Error(err)
				}
			}
		}
	})
	db.whole(t)
	stored := 0
	for id := range int64(4) {
		u, err := g.Users.Get(t.Context(), id+1)
		check(t, err)
		for _, patID := range u.PATs {
			stored++
			p, _, err := g.Tokens.PAT(t.Context(), u.ID, patID)
			check(t, err)
			if told[auth.PATSelector(p.UserID, p.ID)] != p.Verifier {
				t.Errorf("nobody has the secret of PAT %d", p.ID)
			}
		}
	}
	lost := len(told) - stored
	if lost != 0 {
		t.Errorf("%d PATs are stored, %d were told", stored, len(told))
	}
}
