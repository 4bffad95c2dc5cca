package contract_test

import (
	"fmt"
	"math/big"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/google/go-cmp/cmp"

	"toggleadmin/pkg/auth"
	"toggleadmin/pkg/user"
)

// TestSection41_Update: "The record is keyed by (feedback id, user id). No such record: it is created, with neverShow false and given null
// where omitted. Existing: only the members sent change; one sent as null is set to null where nullable (given), else 400." "200:
// feedbackId, userId, neverShow, given, all four always present."
func TestSection41_Update(t *testing.T) {
	t.Parallel()
	s := shared
	const at, later = `"2026-11-20T05:39:00.000Z"`, `"2027-01-01T00:00:00.000Z"`
	type step struct {
		sent             string
		neverShow, given string // as JSON; empty: 400
	}
	for name, steps := range map[string][]step{
		"created by nothing at all":       {{`{}`, "false", "null"}},
		"created with given alone":        {{`{"given":` + at + `}`, "false", at}},
		"created with neverShow alone":    {{`{"neverShow":true}`, "true", "null"}},
		"created with given null":         {{`{"given":null}`, "false", "null"}},
		"created with both":               {{`{"neverShow":true,"given":` + at + `}`, "true", at}},
		"omitted members stay":            {{`{"neverShow":true,"given":` + at + `}`, "true", at}, {`{}`, "true", at}, {`{"unknown":1}`, "true", at}},
		"neverShow changes alone":         {{`{"neverShow":true,"given":` + at + `}`, "true", at}, {`{"neverShow":false}`, "false", at}},
		"given changes alone":             {{`{"neverShow":true,"given":` + at + `}`, "true", at}, {`{"given":` + later + `}`, "true", later}},
		"given is set to null":            {{`{"neverShow":true,"given":` + at + `}`, "true", at}, {`{"given":null}`, "true", "null"}, {`{}`, "true", "null"}},
		"neverShow null is 400":           {{`{"neverShow":true,"given":` + at + `}`, "true", at}, {`{"neverShow":null,"given":null}`, "", ""}, {`{}`, "true", at}},
		"userId null is 400":              {{`{"userId":null,"neverShow":true}`, "", ""}, {`{}`, "false", "null"}},
		"the same again":                  {{`{"neverShow":true,"given":` + at + `}`, "true", at}, {`{"neverShow":true,"given":` + at + `}`, "true", at}},
		"a refused update leaves nothing": {{`{"neverShow":7}`, "", ""}, {`{"given":` + at + `}`, "false", at}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			caller, token := s.person(t, auth.RoleViewer)
			for _, step := range steps {
				a := s.send(t, putFeedback("survey", step.sent).as(token))
				if step.neverShow == "" {
					a.wantError(t, 400)
					continue
				}
				want := fmt.Sprintf(`{"userId":%d,"neverShow":%s,"given":%s,"feedbackId":"survey"}`, caller, step.neverShow, step.given)
				if a.want(t, 200); a.body != want {
					t.Errorf("%s: %s, want %s", step.sent, a.body, want)
				}
			}
		})
	}
	t.Run("keyed by feedback id and user id", func(t *testing.T) {
		t.Parallel()
		_, first := s.person(t, auth.RoleViewer)
		_, second := s.person(t, auth.RoleViewer)
		s.send(t, putFeedback("a", `{"neverShow":true}`).as(first)).want(t, 200)
		for _, c := range []call{putFeedback("a", `{}`).as(second), putFeedback("A", `{}`).as(first), putFeedback("b", `{}`).as(first)} {
			var record feedbackRecord
			if s.send(t, c).want(t, 200).decode(t, &record); record.NeverShow {
				t.Errorf("%s: %+v", c.target, record)
			}
		}
	})
	t.Run("a service account is a user", func(t *testing.T) {
		t.Parallel()
		account := s.serviceAccount(t)
		var record feedbackRecord
		s.send(t, putFeedback("ci", `{"neverShow":true}`).as(s.pat(t, account, user.ServiceAccount))).want(t, 200).decode(t, &record)
		if diff := cmp.Diff(feedbackRecord{FeedbackID: "ci", UserID: account, NeverShow: true}, record); diff != "" {
			t.Error(diff)
		}
	})
}

// TestSection41_UserID: "userId in the body: the caller's own id, or any existing user's id if the caller has ADMIN (then that user's record
// is the one written); otherwise 400 naming /body/userId."
func TestSection41_UserID(t *testing.T) {
	t.Parallel()
	s := shared
	other := s.account(t, user.Person, auth.RoleViewer)
	robot := s.serviceAccount(t)
	for _, role := range []auth.Role{auth.RoleAdmin, auth.RoleEditor, auth.RoleViewer} {
		caller, token := s.person(t, role)
		for name, tt := range map[string]struct {
			userID string
			owner  int64 // 0: 400
		}{
			"its own id":                {text(caller), caller},
			"another's":                 {text(other), map[auth.Role]int64{auth.RoleAdmin: other}[role]},
			"a service account's":       {text(robot), map[auth.Role]int64{auth.RoleAdmin: robot}[role]},
			"nobody's":                  {"2147483647", 0},
			"0":                         {"0", 0},
			"-1":                        {"-1", 0},
			"above 32 bits":             {"2147483648", 0},
			"above 64 bits":             {"18446744073709551617", 0},
			"a huge one":                {"1e300", 0},
			"its own id beyond 64 bits": {wrapped(caller), 0},
		} {
			t.Run(string(role)+" with "+name, func(t *testing.T) {
				t.Parallel()
				id := "user-id-" + strings.ReplaceAll(name, " ", "-") + string(role)
				a := s.send(t, putFeedback(escape(id), `{"neverShow":true,"userId":`+tt.userID+`}`).as(token))
				if tt.owner == 0 {
					if m := a.wantError(t, 400).Message; !strings.Contains(m, "`/body/userId`") {
						t.Errorf("message %q", m)
					}
					for _, id2 := range []int64{caller, other, robot} {
						if item := s.feedback(t, id2, id); item != nil {
							t.Errorf("written: %v", item)
						}
					}
					return
				}
				var record feedbackRecord
				a.want(t, 200).decode(t, &record)
				if record.UserID != tt.owner || s.feedback(t, tt.owner, id) == nil {
					t.Errorf("%+v, want the record of %d", record, tt.owner)
				}
				if tt.owner != caller && s.feedback(t, caller, id) != nil {
					t.Error("the caller's own record is written, too")
				}
			})
		}
	}
	t.Run("a disabled user exists", func(t *testing.T) {
		t.Parallel()
		gone := s.account(t, user.Person, auth.RoleViewer)
		must(t, s.users().SetDisabled(patient(t), gone, true))
		s.send(t, putFeedback("x", `{"userId":`+text(gone)+`}`).as(s.admin(t))).want(t, 200)
	})
}

// TestSection41_Calls: "One UpdateItem, no read before it. (Only [another's userId] reads before it writes.)"
func TestSection41_Calls(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var calls []string
	f := &faults{}
	s := start(t, options{faults: f})
	caller, token := s.person(t, auth.RoleAdmin)
	other := s.account(t, user.Person, auth.RoleViewer)
	f.set(func(operation string, input any) outcome {
		mu.Lock()
		defer mu.Unlock()
		if ofOperation(operation, input) {
			if _, isGet := input.(*dynamodb.GetItemInput); isGet || operation == "UpdateItem" {
				calls = append(calls, operation)
			}
		}
		return succeeds
	})
	for _, tt := range []struct{ body, want string }{
		{`{"neverShow":true}`, "UpdateItem"},
		{`{"userId":` + text(caller) + `,"given":null}`, "UpdateItem"},
		{`{"userId":` + text(other) + `}`, "GetItem UpdateItem"},
		{`{"userId":` + text(other) + `,"given":7}`, ""},
		{`{"userId":2147483647}`, "GetItem"},
	} {
		s.send(t, putFeedback("calls", tt.body).as(token))
		mu.Lock()
		if got := strings.Join(calls, " "); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.body, got, tt.want)
		}
		calls = nil
		mu.Unlock()
	}
}

// TestSection41_Concurrently: updates of different members at the same time are all kept.
func TestSection41_Concurrently(t *testing.T) {
	t.Parallel()
	s := shared
	caller, token := s.person(t, auth.RoleViewer)
	for round := range 10 {
		id := fmt.Sprint("concurrent-", round)
		var both sync.WaitGroup
		for _, body := range []string{`{"neverShow":true}`, `{"given":"2026-11-20T05:39:00Z"}`} {
			both.Go(func() {
				if a := s.send(t, putFeedback(id, body).as(token)); a.status != 200 {
					t.Errorf("%d %s", a.status, a.body)
				}
			})
		}
		both.Wait()
		item := s.feedback(t, caller, id)
		if !item.Bool("neverShow") || item.String("given") == "" {
			t.Errorf("one is lost: %v", item)
		}
	}
}

// wrapped is a number beyond 64 bits whose lower 64 are the id.
func wrapped(id int64) string {
	return new(big.Int).Add(new(big.Int).Lsh(big.NewInt(1), 64), big.NewInt(id)).String()
}
