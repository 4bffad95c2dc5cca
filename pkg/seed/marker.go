package seed

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/auth"
	"toggleadmin/pkg/dynamo"
	"toggleadmin/pkg/pat"
)

// The marker is an item of the partition that no user's tokens are in, beside the counter of ids (pat.Key(0, 0)).
const (
	markerUser, markerID = 0, 1
	attributeSeededAt    = "seededAt"
	attributeAPIToken    = "apiToken" // the selector of the token that Initialise has made; nothing in it is secret
)

// Marker says that tables are seeded.
type Marker struct {
	At       time.Time
	APIToken string // the selector of the first API token; empty: seeded without
}

// ReadMarker reads the marker; ok is false where there is none: the tables are new, or not seeded to the end. One GetItem.
func ReadMarker(ctx context.Context, client *dynamodb.Client, t dynamo.Tables) (m Marker, ok bool, err error) {
	item, err := dynamo.Get(ctx, client, t.PersonalAccessTokens, pat.Key(markerUser, markerID))
	if err != nil {
		return Marker{}, false, fmt.Errorf("look for the seed's marker: %w", err)
	}
	if item == nil {
		return Marker{}, false, nil
	}
	m.APIToken = item.String(attributeAPIToken)
	if at := item.Time(attributeSeededAt); at != nil {
		m.At = *at
	}
	return m, true, nil
}

// marking is the action of a transaction that writes the marker, which fails where it is there. token may be nil.
func (s *seeder) marking(token *auth.Selector) types.TransactWriteItem {
	item := pat.Key(markerUser, markerID)
	item[attributeSeededAt] = dynamo.Time(s.Now())
	if token != nil {
		item[attributeAPIToken] = dynamo.S(token.String())
	}
	return dynamo.NewItem(s.Tables.PersonalAccessTokens, "userId", item)
}
