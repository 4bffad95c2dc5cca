package dynamo_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

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
		calls   int
		fault   string // a part of the error
	}{
		{name: "written", calls: 1},
		{name: "a condition failed", replies: []reply{canceled("None", "ConditionalCheckFailed")}, want: []dynamo.Failure{{}, {Failed: true}}, calls: 1},
		{
			name: "it returns the item", replies: []reply{canceled(old, "ConditionalCheckFailed")}, calls: 1,
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
				return written
			})
			got, err := dynamo.Transact(t.Context(), s.Client, actions())
			if tt.fault != "" {
				if err == nil || isUnavailable(err) || !strings.Contains(err.Error(), tt.fault) {
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
			if s.attempts != tt.calls || len(tokens) != 1 || tokens[""] {
				t.Errorf("%d calls with the tokens %v: all attempts are one", s.attempts, tokens)
			}
		})
	}
}

// TestTransactGivesUp checks that a conflict at the deadline has written nothing, unless an attempt was not answered.
func TestTransactGivesUp(t *testing.T) {
	t.Parallel()
	for name, first := range map[string]reply{"every attempt was answered": canceled("TransactionConflict", "None"), "one was not": {status: 500, body: `{}`}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			client := newServer(t, func(n int, _ string) reply {
				switch n {
				case 1:
					return first
				case 3:
					cancel()
				}
				return canceled("TransactionConflict", "None")
			})
			_, err := dynamo.Transact(ctx, client.Client, actions())
			if !isUnavailable(err) || dynamo.Unanswered(err) != (first.status == http.StatusInternalServerError) {
				t.Errorf("unanswered %t, error %v", dynamo.Unanswered(err), err)
			}
		})
	}
}
