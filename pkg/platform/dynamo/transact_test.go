package dynamo_test

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/test/helper/assert"
)

func transact(ctx context.Context, s *server) ([]dynamo.Failure, error) {
	put := types.TransactWriteItem{Put: &types.Put{TableName: aws.String("t"), Item: dynamo.Item{"id": dynamo.S("x")}}}
	return dynamo.Transact(ctx, s.Client, []types.TransactWriteItem{put, put})
}

func TestTransact(t *testing.T) {
	t.Parallel()
	clientToken := regexp.MustCompile(`"ClientRequestToken":"[^"]+"`)
	for _, test := range []struct {
		responses []string // before one that is a success
		attempts  int
		failures  string // with the ids of items
		err       string // a part of it
	}{
		{[]string{"200 {}"}, 1, "", ""},
		{[]string{"None ConditionalCheckFailed"}, 1, "{false 0} {true 7} ", ""},
		{[]string{"None TransactionConflict", "TransactionConflict None"}, 3, "", ""},
		{[]string{"ThrottlingError None", "None ProvisionedThroughputExceeded"}, 3, "", ""},
		{[]string{"TransactionConflict None", "ConditionalCheckFailed None"}, 2, "{true 7} {false 0} ", ""},
		{[]string{"TransactionConflict ConditionalCheckFailed"}, 1, "{false 0} {true 7} ", ""},
		{[]string{"None ItemCollectionSizeLimitExceeded"}, 1, "", "ItemCollectionSizeLimitExceeded"},
		{[]string{"ValidationException"}, 1, "", "ValidationException"},
	} {
		s := newServer(t, append(test.responses, "200 {}")...)
		all, err := transact(t.Context(), s)
		failures := ""
		for _, f := range all {
			failures += fmt.Sprintf("{%t %d} ", f.Failed, f.Item.Int("lastId"))
		}
		assert.Equal(t, test.failures, failures)
		if (err != nil) != (test.err != "") || err != nil && !strings.Contains(err.Error(), test.err) || isUnavailable(err) {
			t.Errorf("%s: error %v", test.responses, err)
		}
		tokens := map[string]bool{}
		for _, request := range s.requests {
			tokens[clientToken.FindString(request)] = true
		}
		if s.attempts != test.attempts || len(tokens) != 1 || tokens[""] {
			t.Errorf("%s: %d attempts with the tokens %v, want one token", test.responses, s.attempts, tokens)
		}
	}
}

// TestTransactAtTheDeadline checks that a conflict at the deadline has written nothing, unless the result of an attempt
// is unknown.
func TestTransactAtTheDeadline(t *testing.T) {
	t.Parallel()
	conflict, fault := "TransactionConflict None", "500 {}"
	for unknown, attempts := range map[bool][][]string{
		false: {{conflict}}, true: {{fault, conflict}, {conflict, fault}, {fault, conflict, "ValidationException"}},
	} {
		for _, responses := range attempts {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				s := newServer(t, responses...)
				s.last = cancel
				_, err := transact(ctx, s)
				if err == nil || dynamo.ResultUnknown(err) != unknown {
					t.Errorf("%s: result unknown %t, error %v", responses, dynamo.ResultUnknown(err), err)
				}
			})
		}
	}
}
