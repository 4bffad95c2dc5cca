package crash_test

import (
	"net/http"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"toggleadmin/pkg/auth"
	"toggleadmin/pkg/dynamo"
	"toggleadmin/pkg/local"
	"toggleadmin/pkg/pat"
	"toggleadmin/pkg/user"
)

// engineClient speaks to a service's engine.
func engineClient(t *testing.T, service *local.Running) *dynamodb.Client {
	t.Helper()
	client, err := dynamo.NewClient(aws.Config{
		Region: "us-east-1", Credentials: credentials.NewStaticCredentialsProvider("local", "local", ""),
		HTTPClient: dynamo.NewHTTPClient(service.DynamoDB.Endpoint),
	}, service.DynamoDB.Endpoint)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// check holds a writer's last value between what was acknowledged and what was sent.
func (r *record) check(c *crowd, name string) {
	if got := r.read(c); got < r.acked || got > r.sent {
		c.tb.Errorf("%s is at %d: %d was acknowledged, %d sent", name, got, r.acked, r.sent)
	}
}

// check uses every token: an acknowledged one authenticates, a deleted one does not.
func (w *tokens) check(c *crowd) {
	try := func(all []token, wants ...int) {
		for _, one := range all {
			status, answer, err := c.exchange("GET", "/api/admin/feature-types", one.Secret, "")
			ok := false
			for _, want := range wants {
				ok = ok || status == want
			}
			if err != nil || !ok {
				c.tb.Errorf("token %d: %d %s, want one of %d; %v", one.ID, status, answer, wants, err)
			}
		}
	}
	try(w.alive, http.StatusOK)
	try(w.gone, http.StatusUnauthorized)
	try(w.doubted, http.StatusOK, http.StatusUnauthorized)
}

// checkTables holds all tokens in the tables against each other: each is whole and has its place in its owner's map, each place its token,
// and the counter is not behind. Those in the ledgers are there as the ledgers say.
func checkTables(t *testing.T, service *local.Running, ledgers []*tokens) {
	t.Helper()
	client := engineClient(t, service)
	stored := map[int64]pat.PAT{}
	counter, highest := int64(0), int64(0)
	for item, err := range dynamo.Scan(t.Context(), client, service.DynamoDB.Tables["PersonalAccessTokens"]) {
		if err != nil {
			t.Fatal(err)
		}
		if item.Int("userId") == 0 { // the counter, and the seed's marker
			counter = max(counter, item.Int("lastId"))
			continue
		}
		p := pat.FromItem(item)
		if _, twice := stored[p.ID]; twice {
			t.Errorf("there are two tokens with the id %d", p.ID)
		}
		if p.Verifier == (auth.Verifier{}) || p.Description == "" || p.ExpiresAt.IsZero() || p.CreatedAt.IsZero() {
			t.Errorf("a half-made token: %+v", p)
		}
		stored[p.ID] = p
		highest = max(highest, p.ID)
	}
	if counter < highest {
		t.Errorf("the counter is at %d, a token at %d", counter, highest)
	}
	places := 0
	for item, err := range dynamo.Scan(t.Context(), client, service.DynamoDB.Tables["Users"]) {
		if err != nil {
			t.Fatal(err)
		}
		owner := user.FromItem(item)
		for key, id := range owner.PATs {
			places++
			if p := stored[id]; p.UserID != owner.ID || pat.DescriptionKey(p.Description) != key {
				t.Errorf("user %d has a place for token %d, which is %+v", owner.ID, id, p)
			}
		}
	}
	if places != len(stored) {
		t.Errorf("%d tokens have %d places in their owners' maps", len(stored), places)
	}
	for _, w := range ledgers {
		for _, one := range w.alive {
			if !isStored(stored[one.ID], one.Secret) {
				t.Errorf("the acknowledged token %d is stored as %+v", one.ID, stored[one.ID])
			}
		}
		for _, one := range w.gone {
			if p, there := stored[one.ID]; there {
				t.Errorf("a deleted token is there: %+v", p)
			}
		}
	}
}

func isStored(p pat.PAT, secret string) bool {
	parsed, err := auth.ParseToken(secret)
	return err == nil && parsed.Verifier().Equal(p.Verifier[:])
}
