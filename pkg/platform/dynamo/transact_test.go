package dynamo_test

import (
	"context"
	"net/http"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/platform/dynamo"
)

// canceled is the response to a transaction, with one reason per action, separated by spaces. A failed condition has an
// item.
func canceled(reasons string) reply {
	var list []string
	for code := range strings.FieldsSeq(reasons) {
		list = append(list, `{"Code":"`+code+`"}`)
	}
	reason := strings.ReplaceAll(strings.Join(list, ","), `"ConditionalCheckFailed"`,
		`"ConditionalCheckFailed","Item":{"lastId":{"N":"7"}}`)
	return reply{status: http.StatusBadRequest,
		body: `{"__type":"a#TransactionCanceledException","CancellationReasons":[` + reason + `]}`}
}

func transact(ctx context.Context, s *server) ([]dynamo.Failure, error) {
	put := types.TransactWriteItem{Put: &types.Put{TableName: aws.String("t"), Item: dynamo.Item{"id": dynamo.S("x")}}}
	return dynamo.Transact(ctx, s.Client, []types.TransactWriteItem{put, put})
}

func TestTransact(t *testing.T) {
	t.Parallel()
	failed := dynamo.Failure{Failed: true, Item: dynamo.Item{"lastId": dynamo.N(7)}}
	clientToken := regexp.MustCompile(`"ClientRequestToken":"[^"]+"`)
	for _, tt := range []struct {
		name     string
		attempts []reply // before the one that succeeds
		want     []dynamo.Failure
		err      string
	}{
		{name: "written"},
		{name: "a condition failed", attempts: []reply{canceled("None ConditionalCheckFailed")},
			want: []dynamo.Failure{{}, failed}},
		{name: "conflicts", attempts: []reply{canceled("None TransactionConflict"), canceled("TransactionConflict None")}},
		{name: "throttled", attempts: []reply{canceled("ThrottlingError None"),
			canceled("None ProvisionedThroughputExceeded")}},
		{
			name: "a conflict, then a failed condition", want: []dynamo.Failure{failed, {}},
			attempts: []reply{canceled("TransactionConflict None"), canceled("ConditionalCheckFailed None")},
		},
		{name: "both at once", attempts: []reply{canceled("TransactionConflict ConditionalCheckFailed")},
			want: []dynamo.Failure{{}, failed}},
		{name: "another reason", attempts: []reply{canceled("None ItemCollectionSizeLimitExceeded")},
			err: "ItemCollectionSizeLimitExceeded"},
		{name: "another error", attempts: []reply{rejection("ValidationException")}, err: "ValidationException"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tokens := map[string]bool{}
			s := newServer(t, func(n int, body string) reply {
				tokens[clientToken.FindString(body)] = true
				return append(tt.attempts, written)[n-1]
			})
			got, err := transact(t.Context(), s)
			if (err != nil) != (tt.err != "") || isUnavailable(err) || err != nil && !strings.Contains(err.Error(), tt.err) {
				t.Errorf("error %v, want %q", err, tt.err)
			}
			if !reflect.DeepEqual(got, tt.want) {
				t.Errorf("got %v, want %v", got, tt.want)
			}
			attempts := len(tt.attempts)
			if tt.want == nil && tt.err == "" {
				attempts++
			}
			if s.attempts != attempts || len(tokens) != 1 || tokens[""] {
				t.Errorf("%d attempts with the tokens %v, want %d with one token", s.attempts, tokens, attempts)
			}
		})
	}
}

// TestTransactAtTheDeadline checks that a conflict at the deadline has written nothing, unless the result of an attempt
// is unknown.
func TestTransactAtTheDeadline(t *testing.T) {
	t.Parallel()
	conflict, fault := canceled("TransactionConflict None"), reply{status: 500, body: `{}`}
	for _, tt := range []struct {
		name     string
		attempts []reply
		unknown  bool
	}{
		{"every result is known", []reply{conflict, conflict, conflict}, false},
		{"only the result of the first is unknown", []reply{fault, conflict, conflict}, true},
		{"the result of the last is unknown", []reply{conflict, conflict, fault}, true},
		{"a result of an earlier call is unknown", []reply{fault, conflict, rejection("ValidationException")}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				_, err := transact(ctx, newServer(t, func(n int, _ string) reply {
					if n == len(tt.attempts) {
						cancel()
					}
					return tt.attempts[n-1]
				}))
				if err == nil || dynamo.ResultUnknown(err) != tt.unknown {
					t.Errorf("result unknown %t, error %v", dynamo.ResultUnknown(err), err)
				}
			})
		})
	}
}
