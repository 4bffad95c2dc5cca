package clienttoken

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/delivery/clienttokentable"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/consistency"
	"toggleadmin/pkg/platform/dynamo"
)

// countKey is the key of the item with the number of all tokens.
const countKey = "#count"

// attributeTokens is the attribute with the number.
const attributeTokens = "tokens"

func (s *Store) countKey() dynamo.Item { return dynamo.Item{clienttokentable.Hash: dynamo.S(countKey)} }

// count returns the action that counts a new token. It fails if there are limit tokens.
func (s *Store) count(limit int) types.TransactWriteItem {
	update, condition := dynamo.Increment(attributeTokens, int64(limit))
	return s.updateCount(expression.NewBuilder().WithUpdate(update).WithCondition(condition))
}

// uncount returns the action that counts the deletion of a token. It has no condition: a wrong count, which Check
// corrects, must not prevent that a token is revoked.
func (s *Store) uncount() types.TransactWriteItem {
	return s.updateCount(expression.NewBuilder().WithUpdate(
		expression.Add(expression.Name(attributeTokens), expression.Value(-1))))
}

func (s *Store) updateCount(builder expression.Builder) types.TransactWriteItem {
	return dynamo.UpdateItem(s.table, s.countKey(), builder)
}

// tooMany returns the error if the count does not permit another token.
func tooMany(limit int) error {
	return apierror.Errorf(apierror.NoAccess, "The maximum number of client tokens (%d), including expired ones, is "+
		"reached. Delete one first.", limit)
}

// Check compares the count of all tokens with the tokens. It is a consistency.Check.
func (s *Store) Check(ctx context.Context) (summary string, found []consistency.Inconsistency, err error) {
	stored, err := dynamo.Get(ctx, s.client, s.table, s.countKey())
	if err != nil {
		return "", nil, fmt.Errorf("read the count of client tokens: %w", err)
	}
	all, err := s.List(ctx)
	if err != nil {
		return "", nil, err
	}
	if n := stored.Int(attributeTokens); n != int64(len(all)) {
		found = append(found, consistency.Inconsistency{
			Text: fmt.Sprintf("the number of all client tokens is %d, and %d is stored", len(all), n),
			Repair: dynamo.ReplaceAttribute(s.client, s.table, s.countKey(), []string{attributeTokens},
				stored[attributeTokens], dynamo.N(int64(len(all)))),
		})
	}
	return fmt.Sprintf("%d, as counted", len(all)) + inUse(all, s.log.Now()), found, nil
}

const (
	recentUse  = 30 * 24 * time.Hour
	shownNames = 3
)

// inUse names imported tokens that were used recently, for an operator who replaces them.
func inUse(all []clienttokentable.Token, now time.Time) string {
	var names []string
	for _, t := range all {
		if t.Imported && t.SeenAt != nil && now.Sub(*t.SeenAt) < recentUse {
			names = append(names, fmt.Sprintf("%q", t.Name))
		}
	}
	if len(names) == 0 {
		return ""
	}
	n := len(names)
	if n > shownNames {
		names = append(names[:shownNames], "…")
	}
	return fmt.Sprintf("; imported ones that were used in the last 30 days: %d (%s): rotate them when it suits you", n,
		strings.Join(names, ", "))
}
