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
	"toggleadmin/test/table"
)

func transact(ctx context.Context, s *server) ([]dynamo.Failure, error) {
	put := types.TransactWriteItem{Put: &types.Put{TableName: aws.String("t"), Item: dynamo.Item{"id": dynamo.S("x")}}}
	return dynamo.Transact(ctx, s.Client, []types.TransactWriteItem{put, put})
}

func TestTransact(t *testing.T) {
	t.Parallel()
	clientToken := regexp.MustCompile(`"ClientRequestToken":"[^"]+"`)
	for _, row := range table.Rows(t, 3, `
		# responses before one that is a success | attempts | failures with items, or error
		200 {} | 1 |
		None ConditionalCheckFailed | 1 | {false 0} {true 7}
		None TransactionConflict, TransactionConflict None | 3 |
		ThrottlingError None, None ProvisionedThroughputExceeded | 3 |
		TransactionConflict None, ConditionalCheckFailed None | 2 | {true 7} {false 0}
		TransactionConflict ConditionalCheckFailed | 1 | {false 0} {true 7}
		None ItemCollectionSizeLimitExceeded | 1 | ItemCollectionSizeLimitExceeded
		ValidationException | 1 | ValidationException
	`) {
		s := newServer(t, append(strings.Split(row[0], ", "), "200 {}")...)
		all, err := transact(t.Context(), s)
		got := ""
		for _, f := range all {
			got += fmt.Sprintf("{%t %d} ", f.Failed, f.Item.Int("lastId"))
		}
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, row[2]) || row[2] == "" && got != "" || isUnavailable(err) {
			t.Errorf("%s: %s", row, got)
		}
		tokens := map[string]bool{}
		for _, request := range s.requests {
			tokens[clientToken.FindString(request)] = true
		}
		if fmt.Sprint(s.attempts) != row[1] || len(tokens) != 1 || tokens[""] {
			t.Errorf("%s: %d attempts with the tokens %v, want one token", row, s.attempts, tokens)
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
