package dynamo_test

import (
	"context"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/test/table"
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
	clientToken := regexp.MustCompile(`"ClientRequestToken":"[^"]+"`)
	for _, row := range table.Rows(t, 3, `
		# reasons of each attempt | attempts | failures with items, or error
		| 1 |
		None ConditionalCheckFailed | 1 | {false 0} {true 7}
		None TransactionConflict, TransactionConflict None | 3 |
		ThrottlingError None, None ProvisionedThroughputExceeded | 3 |
		TransactionConflict None, ConditionalCheckFailed None | 2 | {true 7} {false 0}
		TransactionConflict ConditionalCheckFailed | 1 | {false 0} {true 7}
		None ItemCollectionSizeLimitExceeded | 1 | ItemCollectionSizeLimitExceeded
		ValidationException | 1 | ValidationException
	`) {
		tokens := map[string]bool{}
		attempts := strings.Split(row[0], ", ")
		s := newServer(t, func(n int, body string) reply {
			tokens[clientToken.FindString(body)] = true
			switch {
			case n > len(attempts) || row[0] == "":
				return written
			case !strings.Contains(attempts[n-1], " "):
				return rejection(attempts[n-1])
			}
			return canceled(attempts[n-1])
		})
		failures, err := transact(t.Context(), s)
		var got []string
		for _, f := range failures {
			got = append(got, fmt.Sprintf("{%t %d}", f.Failed, f.Item.Int("lastId")))
		}
		if err != nil {
			got = append(got, err.Error())
		}
		if text := strings.Join(got, " "); !strings.Contains(text, row[2]) || row[2] == "" && text != "" || isUnavailable(err) {
			t.Errorf("%s: %s", row, text)
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
	replies := map[string]reply{"conflict": canceled("TransactionConflict None"), "fault": {status: 500, body: `{}`},
		"rejection": rejection("ValidationException")}
	for attempts, unknown := range map[string]bool{
		"conflict": false, "fault, conflict": true, "conflict, fault": true, "fault, conflict, rejection": true,
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			names := strings.Split(attempts, ", ")
			_, err := transact(ctx, newServer(t, func(n int, _ string) reply {
				if n == len(names) {
					cancel()
				}
				return replies[names[n-1]]
			}))
			if err == nil || dynamo.ResultUnknown(err) != unknown {
				t.Errorf("%s: result unknown %t, error %v", attempts, dynamo.ResultUnknown(err), err)
			}
		})
	}
}
