package dynamo_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/dynamo"
)

func canceled(reasons ...string) reply {
	for i, reason := range reasons {
		if !strings.HasPrefix(reason, "{") {
			reasons[i] = `{"Code":"` + reason + `"}`
		}
	}
	return reply{status: http.StatusBadRequest, body: `{"__type":"com.amazonaws.dynamodb.v20120810#TransactionCanceledException","message":"m",` +
		`"CancellationReasons":[` + strings.Join(reasons, ",") + `]}`}
}

func actions() []types.TransactWriteItem {
	put := types.TransactWriteItem{Put: &types.Put{TableName: aws.String("t"), Item: dynamo.Item{"id": dynamo.S("x")}}}
	return []types.TransactWriteItem{put, put}
}

func TestTransact(t *testing.T) {
	t.Parallel()
	const old = `{"Code":"ConditionalCheckFailed","Item":{"lastId":{"N":"7"}}}`
	for _, tt := range []struct {
		name    string
		replies []reply // then success
		want    []dynamo.Failure
		calls   int64
		fault   string // a part of the fault's text
	}{
		{name: "written", calls: 1},
		{name: "a condition failed", replies: []reply{canceled("None", "ConditionalCheckFailed")}, want: []dynamo.Failure{{}, {Failed: true}}, calls: 1},
		{
			name: "it gives the item", replies: []reply{canceled(old, "ConditionalCheckFailed")}, calls: 1,
			want: []dynamo.Failure{{Failed: true, Item: dynamo.Item{"lastId": dynamo.N(7)}}, {Failed: true}},
		},
		{name: "conflict, then written", replies: []reply{canceled("None", "TransactionConflict"), canceled("TransactionConflict", "None")}, calls: 3},
		{name: "throttled, then written", replies: []reply{canceled("ThrottlingError", "None"), canceled("None", "ProvisionedThroughputExceeded")}, calls: 3},
		{
			name: "conflict, then a condition failed", replies: []reply{canceled("TransactionConflict", "None"), canceled("ConditionalCheckFailed", "None")},
			want: []dynamo.Failure{{Failed: true}, {}}, calls: 2,
		},
		{
			name: "both at once: the condition decides", replies: []reply{canceled("TransactionConflict", "ConditionalCheckFailed")},
			want: []dynamo.Failure{{}, {Failed: true}}, calls: 1,
		},
		{name: "a reason that stays", replies: []reply{canceled("None", "ItemCollectionSizeLimitExceeded")}, calls: 1, fault: "ItemCollectionSizeLimitExceeded"},
		{name: "another error", replies: []reply{refusal("ValidationException")}, calls: 1, fault: "ValidationException"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tokens := map[string]bool{}
			s := newServer(t, func(n int, body string) reply {
				_, after, _ := strings.Cut(body, `"ClientRequestToken":"`)
				token, _, _ := strings.Cut(after, `"`)
				tokens[token] = true
				if n <= len(tt.replies) {
					return tt.replies[n-1]
				}
				return reply{status: 200, body: `{}`}
			})
			got, err := dynamo.Transact(deadline(t, 10*time.Second), s.Client, actions())
			if tt.fault != "" {
				if !isUnavailable(err) || !strings.Contains(err.Error(), tt.fault) {
					t.Errorf("error %v", err)
				}
			} else if err != nil {
				t.Error(err)
			}
			if len(got) != len(tt.want) {
				t.Fatalf("got %v, want %v", got, tt.want)
			}
			for i := range got {
				if got[i].Failed != tt.want[i].Failed || got[i].Item.Int("lastId") != tt.want[i].Item.Int("lastId") || len(got[i].Item) != len(tt.want[i].Item) {
					t.Errorf("action %d: got %v, want %v", i, got[i], tt.want[i])
				}
			}
			if s.calls.Load() != tt.calls || len(tokens) != 1 || tokens[""] {
				t.Errorf("%d calls with the tokens %v: all attempts are one", s.calls.Load(), tokens)
			}
		})
	}
}

// TestTransactGivesUp: at the deadline a conflict is a fault that has written nothing, unless an attempt was not answered.
func TestTransactGivesUp(t *testing.T) {
	t.Parallel()
	for name, first := range map[string]reply{"every attempt was answered": canceled("TransactionConflict", "None"), "one was not": {status: 500, body: `{}`}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			client := newClient(t, func(n int) reply {
				switch n {
				case 1:
					return first
				case 3:
					cancel()
				}
				return canceled("TransactionConflict", "None")
			})
			_, err := dynamo.Transact(ctx, client, actions())
			if !isUnavailable(err) || dynamo.Unanswered(err) != (first.status == http.StatusInternalServerError) {
				t.Errorf("unanswered %t, error %v", dynamo.Unanswered(err), err)
			}
		})
	}
}

func TestPause(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for attempt := 1; attempt < 40; attempt++ {
			begin := time.Now()
			if err := dynamo.Pause(t.Context(), attempt); err != nil {
				t.Fatal(err)
			}
			if waited := time.Since(begin); waited <= 0 || waited > 101*time.Millisecond {
				t.Errorf("waited %s before attempt %d", waited, attempt+1)
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := dynamo.Pause(ctx, 30); !errors.Is(err, context.Canceled) {
			t.Errorf("error %v of a context that is over", err)
		}
	})
}
