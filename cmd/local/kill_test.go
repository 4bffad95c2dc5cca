package main_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"toggleadmin/pkg/dynamo"
	"toggleadmin/pkg/pat"
	"toggleadmin/pkg/user"
)

// ledger is what the clients were told before the kill.
type ledger struct {
	mu       sync.Mutex
	feedback map[string]string // id → given
	valid    map[string]bool   // token → it was created, or deleted after that
	writes   int
	enough   chan struct{} // closed after so many acknowledged writes in a round
}

func (l *ledger) note(f func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f()
	if l.writes++; l.writes == 100 {
		close(l.enough)
	}
}

// Ten times: kill -9 of everything under 16 concurrent writers. What was acknowledged is there, and no token is half made.
func TestKillingEverythingLosesNothingAcknowledged(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("ten starts")
	}
	dir := filepath.Join(t.TempDir(), "data")
	l := &ledger{feedback: map[string]string{}, valid: map[string]bool{}}
	all := map[string]string{}
	for round := range 10 {
		p := serve(t, dir)
		p.checkLedger(t, l)
		maps.Copy(all, l.feedback)
		clear(l.feedback)
		p.checkTokens(t)
		clear(l.valid) // these are deleted now
		l.writes, l.enough = 0, make(chan struct{})
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		var wg sync.WaitGroup
		for writer := range 8 {
			wg.Go(func() { p.writeFeedback(ctx, l, fmt.Sprintf("r%d-w%d", round, writer)) })
			wg.Go(func() { p.writeTokens(ctx, l, fmt.Sprintf("r%d-w%d", round, writer)) })
		}
		select {
		case <-l.enough:
		case <-ctx.Done():
			t.Error("too few writes")
		}
		engine := p.enginePID(t)
		if round%2 == 0 { // the engine first; else its parent, and it may have ended with that
			_ = syscall.Kill(engine, syscall.SIGKILL)
		}
		_ = p.Process.Kill()
		_ = syscall.Kill(engine, syscall.SIGKILL)
		if err := <-p.ended; err == nil {
			t.Error("it ended with status 0")
		}
		wg.Wait()
		cancel()
	}
	maps.Copy(l.feedback, all)
	serve(t, dir).checkLedger(t, l)
}

// writeFeedback writes until no answer comes: the kill.
func (p *process) writeFeedback(ctx context.Context, l *ledger, name string) {
	for n := 0; ; n++ {
		id, given := fmt.Sprintf("%s-%d", name, n), fmt.Sprintf("2026-01-01T00:00:00.%03dZ", n%1000)
		status, _, err := p.send(ctx, "PUT", "/api/admin/feedback/"+id, p.Users[0].PAT, `{"given":"`+given+`"}`)
		if err != nil {
			return
		}
		if status == http.StatusOK {
			l.note(func() { l.feedback[id] = given })
		}
	}
}

// writeTokens creates tokens, each of which deletes the one before, until no answer comes.
func (p *process) writeTokens(ctx context.Context, l *ledger, name string) {
	type created struct {
		ID     int64  `json:"id"`
		Secret string `json:"secret"`
	}
	var before created
	for n := 0; ; n++ {
		body := fmt.Sprintf(`{"description":"%s-%d","expiresAt":"2199-01-01T00:00:00Z"}`, name, n)
		status, answer, err := p.send(ctx, "POST", "/api/admin/service-account/4/token", p.APIToken, body)
		if err != nil {
			return
		}
		var token created
		if status == http.StatusCreated && json.Unmarshal([]byte(answer), &token) == nil {
			l.note(func() { l.valid[token.Secret] = true })
		}
		if before.ID != 0 {
			l.mu.Lock()
			delete(l.valid, before.Secret) // nobody knows until the answer
			l.mu.Unlock()
			status, _, err = p.send(ctx, "DELETE", fmt.Sprintf("/api/admin/user/tokens/%d", before.ID), before.Secret, "")
			if err != nil {
				return
			}
			if status == http.StatusOK {
				l.note(func() { l.valid[before.Secret] = false })
			}
		}
		before = token
	}
}

// checkLedger asks for everything that was acknowledged.
func (p *process) checkLedger(t *testing.T, l *ledger) {
	t.Helper()
	for id, given := range l.feedback {
		status, body, err := p.send(t.Context(), "PUT", "/api/admin/feedback/"+id, p.Users[0].PAT, "{}")
		var answer struct{ Given string }
		if err != nil || status != http.StatusOK || json.Unmarshal([]byte(body), &answer) != nil || answer.Given != given {
			t.Fatalf("feedback %s is %d %s %v instead of %s", id, status, body, err, given)
		}
	}
	for token, valid := range l.valid {
		want := http.StatusUnauthorized
		if valid {
			want = http.StatusOK
		}
		if status, body, err := p.send(t.Context(), "GET", "/api/admin/context", token, ""); err != nil || status != want {
			t.Fatalf("a token, valid %v: %d %s %v", valid, status, body, err)
		}
	}
}

// checkTokens holds the account's map of tokens against the tokens, and then deletes them, so that the limit is not reached.
func (p *process) checkTokens(t *testing.T) {
	t.Helper()
	client, err := dynamo.NewClient(aws.Config{
		Region: "us-east-1", Credentials: credentials.NewStaticCredentialsProvider("local", "local", ""), HTTPClient: dynamo.NewHTTPClient(p.DynamoDB.Endpoint),
	}, p.DynamoDB.Endpoint)
	if err != nil {
		t.Fatal(err)
	}
	account, err := user.NewStore(client, p.DynamoDB.Tables["Users"]).Get(t.Context(), 4)
	if err != nil {
		t.Fatal(err)
	}
	var last, highest int64
	stored := map[string]int64{}
	for item, err := range dynamo.Scan(t.Context(), client, p.DynamoDB.Tables["PersonalAccessTokens"]) {
		if err != nil {
			t.Fatal(err)
		}
		last += item.Int("lastId") // of the counter alone
		highest = max(highest, item.Int("id"))
		if found := pat.Of(item); found.UserID == 4 {
			stored[pat.DescriptionKey(found.Description)] = found.ID
		}
	}
	if len(stored) != len(account.PATs) || highest > last {
		t.Fatalf("the account has %v, stored are %v, the highest id is %d, the counter %d", account.PATs, stored, highest, last)
	}
	store := pat.NewStore(client, p.DynamoDB.Tables["PersonalAccessTokens"], p.DynamoDB.Tables["Users"], rand.Reader)
	for key, id := range account.PATs {
		if stored[key] != id {
			t.Fatalf("the account has the token %d, stored is %d", id, stored[key])
		}
		if err := store.Delete(t.Context(), 4, id); err != nil {
			t.Fatal(err)
		}
	}
}
