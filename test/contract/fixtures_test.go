package contract_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/apitoken"
	"toggleadmin/pkg/auth"
	"toggleadmin/pkg/contextfield"
	"toggleadmin/pkg/dynamo"
	"toggleadmin/pkg/feature"
	"toggleadmin/pkg/featuretype"
	"toggleadmin/pkg/pat"
	"toggleadmin/pkg/user"
)

// patient bounds what a test does to the tables.
func patient(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 20*time.Second)
	t.Cleanup(cancel)
	return ctx
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (s *service) table(logicalID string) string { return s.DynamoDB.Tables[logicalID] }

func (s *service) tables() dynamo.Tables { return dynamo.TablesByID(s.DynamoDB.Tables) }

func (s *service) users() *user.Store { return user.NewStore(s.db, s.tables()) }

func (s *service) pats() *pat.Store {
	return pat.NewStore(s.db, s.tables(), rand.Reader)
}

// account makes an account of a kind and role and gives its id, which nobody else has.
func (s *service) account(t *testing.T, kind user.Kind, role auth.Role) int64 {
	t.Helper()
	id := s.lastUser.Add(1)
	must(t, s.users().Create(patient(t), user.User{ID: id, Kind: kind, Name: fmt.Sprint("account ", id), Role: role}))
	return id
}

// person makes a person with a PAT.
func (s *service) person(t *testing.T, role auth.Role) (id int64, token string) {
	t.Helper()
	id = s.account(t, user.Person, role)
	return id, s.pat(t, id, user.Person)
}

// admin gives the PAT of a new administrator.
func (s *service) admin(t *testing.T) string {
	t.Helper()
	_, token := s.person(t, auth.RoleAdmin)
	return token
}

// viewer gives the PAT of a new viewer.
func (s *service) viewer(t *testing.T) string {
	t.Helper()
	_, token := s.person(t, auth.RoleViewer)
	return token
}

// serviceAccount gives the id of a new service account.
func (s *service) serviceAccount(t *testing.T) int64 {
	t.Helper()
	return s.account(t, user.ServiceAccount, auth.RoleViewer)
}

// pat makes a PAT that lasts.
func (s *service) pat(t *testing.T, owner int64, kind user.Kind) string {
	t.Helper()
	_, token := s.patUntil(t, owner, kind, time.Now().AddDate(100, 0, 0))
	return token
}

// patUntil makes a PAT, and gives its id and the token.
func (s *service) patUntil(t *testing.T, owner int64, kind user.Kind, expires time.Time) (id int64, token string) {
	t.Helper()
	p, created, err := s.pats().Create(patient(t), pat.PAT{
		UserID: owner, Description: rand.Text(), CreatedAt: time.Now(), ExpiresAt: expires,
	}, pat.Owner{Kind: kind, Limit: 100})
	must(t, err)
	return p.ID, created.Reveal()
}

// apiTokenUntil makes an API token; nil: it lasts.
func (s *service) apiTokenUntil(t *testing.T, expires *time.Time) auth.Token {
	t.Helper()
	token, err := apitoken.NewStore(s.db, s.tables()).Create(patient(t), apitoken.APIToken{Name: t.Name(), ExpiresAt: expires}, rand.Reader)
	must(t, err)
	return token
}

func (s *service) apiToken(t *testing.T) string { t.Helper(); return s.apiTokenUntil(t, nil).Reveal() }

// featureType makes a type with a lifetime and gives its id.
func (s *service) featureType(t *testing.T, days *int64) string {
	t.Helper()
	id := "type-" + lower(rand.Text())
	must(t, featuretype.NewStore(s.db, s.tables()).Create(patient(t), featuretype.FeatureType{
		ID: id, Name: "Name of " + id, Description: "Description of " + id, LifetimeDays: days, Position: 1000,
	}))
	return id
}

func lower(text string) string { return featuretype.NormalID(text) }

func (s *service) contextField(t *testing.T, f contextfield.ContextField) {
	t.Helper()
	create := contextfield.NewStore(s.db, s.tables()).Creation(f)
	_, err := dynamo.Transact(patient(t), s.db, []types.TransactWriteItem{create})
	must(t, err)
}

func (s *service) features() *feature.Store {
	return feature.NewStore(s.db, s.tables())
}

// item reads an item; nil where there is none.
func (s *service) item(t *testing.T, logicalID string, key dynamo.Item) dynamo.Item {
	t.Helper()
	item, err := dynamo.Get(patient(t), s.db, s.table(logicalID), key)
	must(t, err)
	return item
}

// put writes an item past all stores.
func (s *service) put(t *testing.T, logicalID string, item dynamo.Item) {
	t.Helper()
	table := s.table(logicalID)
	_, err := s.db.PutItem(patient(t), &dynamodb.PutItemInput{TableName: &table, Item: item})
	must(t, err)
}

// remove deletes an item past all stores.
func (s *service) remove(t *testing.T, logicalID string, key dynamo.Item) {
	t.Helper()
	table := s.table(logicalID)
	_, err := s.db.DeleteItem(patient(t), &dynamodb.DeleteItemInput{TableName: &table, Key: key})
	must(t, err)
}

// feedback is the stored record of a user; nil: none.
func (s *service) feedback(t *testing.T, userID int64, feedbackID string) dynamo.Item {
	t.Helper()
	return s.item(t, "Feedback", dynamo.Item{"userId": dynamo.N(userID), "feedbackId": dynamo.S(feedbackID)})
}

// tokensOf gives the PATs in an account's map, by the key of their description, and those in the table of PATs.
func (s *service) tokensOf(t *testing.T, owner int64) (reserved map[string]int64, stored []pat.PAT) {
	t.Helper()
	u, err := s.users().Get(patient(t), owner)
	if errors.Is(err, user.ErrNotFound) {
		return nil, nil
	}
	must(t, err)
	table, hash := s.table("PersonalAccessTokens"), "#userId = :userId"
	page, err := s.db.Query(patient(t), &dynamodb.QueryInput{
		TableName: &table, KeyConditionExpression: &hash, ConsistentRead: new(true),
		ExpressionAttributeNames:  map[string]string{"#userId": "userId"},
		ExpressionAttributeValues: map[string]types.AttributeValue{":userId": dynamo.N(owner)},
	})
	must(t, err)
	for _, item := range page.Items {
		stored = append(stored, pat.FromItem(item))
	}
	return u.PATs, stored
}

// counter is the id of the last PAT.
func (s *service) counter(t *testing.T) int64 {
	t.Helper()
	return s.item(t, "PersonalAccessTokens", pat.Key(0, 0)).Int("lastId")
}
