package feature

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"toggleadmin/pkg/dynamo"
)

const (
	// indexStaleness is the index on the attribute of that name, sorted by createdAt.
	indexStaleness = "staleness"
	// flagPage is the most toggles that a page holds. Each is about 90 bytes in the index, so a page is 8 KB, one read unit, of which nothing
	// is wasted; and a run that stops has read little in vain: a page of each of its ranges.
	flagPage = 80
)

// FlagStore is the part of the toggles' table that re-evaluation needs: what is due, and the flip of a flag. Each call is one attempt: who
// calls decides what to do about a fault. It is safe for concurrent use.
type FlagStore struct {
	client   *dynamodb.Client
	features string
}

// NewFlagStore makes a store on the table Features.
func NewFlagStore(client *dynamodb.Client, tables dynamo.Tables) *FlagStore {
	return &FlagStore{client, tables.Features}
}

// Due reads a page of a range, the oldest toggles first, beginning after a page's Next, or at the beginning. An index may be behind: what
// it gives may no longer be due, and what is due may be missing.
func (s *FlagStore) Due(ctx context.Context, r Range, after *Indexed) (Page, error) {
	hash := StalenessKey(r.Type, r.PotentiallyStale, r.Shard)
	input := &dynamodb.QueryInput{
		TableName: &s.features, IndexName: aws.String(indexStaleness), Limit: aws.Int32(flagPage),
		KeyConditionExpression:    aws.String("#staleness = :staleness"),
		ExpressionAttributeNames:  map[string]string{"#staleness": attributeStaleness},
		ExpressionAttributeValues: dynamo.Item{":staleness": dynamo.S(hash)},
	}
	if r.Cutoff != nil {
		comparison := " AND #createdAt <= :cutoff"
		if r.PotentiallyStale {
			comparison = " AND #createdAt > :cutoff"
		}
		input.KeyConditionExpression = aws.String(*input.KeyConditionExpression + comparison)
		input.ExpressionAttributeNames["#createdAt"] = "createdAt"
		input.ExpressionAttributeValues[":cutoff"] = dynamo.Time(*r.Cutoff)
	}
	if after != nil {
		input.ExclusiveStartKey = dynamo.Item{
			"name": dynamo.S(after.Name), "createdAt": dynamo.S(after.CreatedAt), attributeStaleness: dynamo.S(hash),
		}
	}
	out, err := s.client.Query(ctx, input, dynamo.Once)
	if err != nil {
		return Page{}, fmt.Errorf("read toggles under %q: %w", hash, err)
	}
	page := Page{Toggles: make([]Indexed, len(out.Items))}
	for i, item := range out.Items {
		page.Toggles[i] = indexedOf(item)
	}
	if out.LastEvaluatedKey != nil {
		page.Next = new(indexedOf(out.LastEvaluatedKey))
	}
	return page, nil
}

func indexedOf(item dynamo.Item) Indexed {
	return Indexed{Name: item.String("name"), CreatedAt: item.String("createdAt")}
}

// Flip gives a toggle of a range the other flag, or says that it did not. The toggle must still be what the index said: an index key is
// there only while a toggle is neither archived nor stale, and it names type and flag. So a toggle that was archived, marked as stale,
// re-typed, flipped or deleted meanwhile stays as it is, and so does another one that has its name by now, unless it is as old.
func (s *FlagStore) Flip(ctx context.Context, r Range, t Indexed) (bool, error) {
	_, err := s.client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: &s.features, Key: key(t.Name),
		ConditionExpression: aws.String("#staleness = :old AND #createdAt = :createdAt"),
		UpdateExpression:    aws.String("SET #staleness = :new, #flag = :flag"),
		ExpressionAttributeNames: map[string]string{
			"#staleness": attributeStaleness, "#createdAt": "createdAt", "#flag": "potentiallyStale",
		},
		ExpressionAttributeValues: dynamo.Item{
			":old": dynamo.S(StalenessKey(r.Type, r.PotentiallyStale, r.Shard)), ":createdAt": dynamo.S(t.CreatedAt),
			":new": dynamo.S(StalenessKey(r.Type, !r.PotentiallyStale, r.Shard)), ":flag": dynamo.Bool(!r.PotentiallyStale),
		},
	}, dynamo.Once)
	switch {
	case dynamo.FailedCondition(err):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("flip the flag of toggle %q: %w", t.Name, err)
	}
	return true, nil
}
