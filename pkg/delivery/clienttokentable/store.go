package clienttokentable

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/dynamo"
)

// Get reads one token consistently. ok is false if there is none.
func Get(ctx context.Context, client *dynamodb.Client, table string, s access.Selector) (t Token, ok bool, err error) {
	item, err := dynamo.Get(ctx, client, table, Key(s))
	if err != nil {
		return Token{}, false, fmt.Errorf("get a client token: %w", err)
	}
	if item == nil {
		return Token{}, false, nil
	}
	t, err = Unmarshal(item)
	return t, err == nil, err
}

// Scan reads all tokens of a table consistently, in any order.
func Scan(ctx context.Context, client *dynamodb.Client, table string) ([]Token, error) {
	var all []Token
	for item, err := range dynamo.Scan(ctx, client, table) {
		if err != nil {
			return nil, fmt.Errorf("list client tokens: %w", err)
		}
		if !IsToken(item) {
			continue
		}
		t, err := Unmarshal(item)
		if err != nil {
			return nil, fmt.Errorf("list client tokens: %w", err)
		}
		all = append(all, t)
	}
	return all, nil
}
