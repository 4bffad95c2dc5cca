package stores_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/google/go-cmp/cmp"

	"toggleadmin/pkg/apierror"
	"toggleadmin/pkg/apitoken"
	"toggleadmin/pkg/contextfield"
	"toggleadmin/pkg/dynamo"
	"toggleadmin/pkg/featuretype"
	"toggleadmin/pkg/feedback"
	"toggleadmin/pkg/user"
)

// operation is one of a store's, which must succeed through faults that pass.
type operation struct {
	name string
	run  func(ctx context.Context, db *database, client *dynamodb.Client) error
}

func operations() []operation {
	return []operation{
		{"list feature types", func(ctx context.Context, db *database, c *dynamodb.Client) error {
			all, err := featuretype.NewStore(c, db.tables).List(ctx)
			return errors.Join(err, must(len(all) == 1))
		}},
		{"set a lifetime", func(ctx context.Context, db *database, c *dynamodb.Client) error {
			got, err := featuretype.NewStore(c, db.tables).SetLifetime(ctx, "release", new(int64(9)))
			return errors.Join(err, must(got.LifetimeDays != nil && *got.LifetimeDays == 9))
		}},
		{"list context fields", func(ctx context.Context, db *database, c *dynamodb.Client) error {
			all, err := contextfield.NewStore(c, db.tables).List(ctx)
			return errors.Join(err, must(len(all) == 1))
		}},
		{"update feedback", func(ctx context.Context, db *database, c *dynamodb.Client) error {
			got, err := feedback.NewStore(c, db.tables).Update(ctx, "f", 1, feedback.Change{NeverShow: new(true)})
			return errors.Join(err, must(got.NeverShow))
		}},
		{"read a feature type", func(ctx context.Context, db *database, c *dynamodb.Client) error {
			got, err := featuretype.NewStore(c, db.tables).Get(ctx, "release")
			return errors.Join(err, must(got.ID == "release"))
		}},
		{"look a user up", func(ctx context.Context, db *database, c *dynamodb.Client) error {
			exists, err := user.NewStore(c, db.tables).Exists(ctx, 1)
			return errors.Join(err, must(exists))
		}},
		{"disable a user", func(ctx context.Context, db *database, c *dynamodb.Client) error {
			return user.NewStore(c, db.tables).SetDisabled(ctx, 1, true)
		}},
		{"authenticate a PAT", func(ctx context.Context, db *database, c *dynamodb.Client) error {
			p, u, err := db.tokens(c).PAT(ctx, 1, 1)
			return errors.Join(err, must(p.ID == 1 && u.ID == 1))
		}},
		{"write seenAt", func(ctx context.Context, db *database, c *dynamodb.Client) error {
			return db.tokens(c).Seen(ctx, 1, 1, later(), later())
		}},
		{"create a PAT", func(ctx context.Context, db *database, c *dynamodb.Client) error {
			p, token, err := db.pats(c).Create(ctx, newPAT(1, "new"), owner(10))
			if err != nil {
				return err
			}
			stored, _, err := db.tokens(db.client).PAT(ctx, 1, 3)
			return errors.Join(err, must(p.ID == 3 && stored.Verifier == token.Verifier()))
		}},
		{"delete a PAT", func(ctx context.Context, db *database, c *dynamodb.Client) error {
			return db.pats(c).Delete(ctx, 1, 2)
		}},
		{"create an API token", func(ctx context.Context, db *database, c *dynamodb.Client) error {
			return createAPIToken(ctx, db, c)
		}},
	}
}

func must(holds bool) error {
	if !holds {
		return errors.New("another result than expected")
	}
	return nil
}

// filled is a database with one of everything that operations need.
func filled(tb testing.TB, endpoint string) *database {
	tb.Helper()
	db := newDatabaseAt(tb, endpoint)
	g := db.ground(tb)
	check(tb, g.FeatureTypes.Create(tb.Context(), featuretype.FeatureType{ID: "release"}))
	check(tb, g.ContextFields.Create(tb.Context(), contextfield.ContextField{Name: "a"}))
	account(tb, g, 1, user.ServiceAccount)
	create(tb, g, 1, "ci")
	create(tb, g, 1, "to be deleted")
	return db
}

// within gives a context with the deadline that a request would have.
func within(tb testing.TB, d time.Duration) context.Context {
	tb.Helper()
	ctx, cancel := context.WithTimeout(tb.Context(), d)
	tb.Cleanup(cancel)
	return ctx
}

// TestFaultsThatPass: each operation's first request meets the fault, then all is well. The caller does not notice.
func TestFaultsThatPass(t *testing.T) {
	t.Parallel()
	faults := map[string]func(*call) (*http.Response, error){
		"throttled":           func(c *call) (*http.Response, error) { return c.refuse("ProvisionedThroughputExceededException") },
		"over the rate":       func(c *call) (*http.Response, error) { return c.refuse("ThrottlingException") },
		"internal error":      func(c *call) (*http.Response, error) { return c.refuse("InternalServerError") },
		"refused connection":  func(*call) (*http.Response, error) { return nil, errLost },
		"lost answer":         (*call).lose,
		"answer cut off":      (*call).cut,
		"transaction on item": conflict,
	}
	for name, fault := range faults {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db, all := filled(t, shared.endpoint), operations()
			atOnce(len(all), func(i int) {
				client, tap := db.through(t, func(c *call) (*http.Response, error) {
					if c.n == 1 { // of each API
						return fault(c)
					}
					return c.pass()
				})
				if err := all[i].run(within(t, 10*time.Second), db, client); err != nil {
					t.Errorf("%s: %v after %s", all[i].name, err, tap.calls())
				}
			})
			db.whole(t)
		})
	}
}

// conflict is another transaction's touch on an item, in the form that the call would hear of it.
func conflict(c *call) (*http.Response, error) {
	switch c.operation {
	case "TransactWriteItems":
		reasons := make([]string, strings.Count(c.body, `"TableName"`))
		for i := range reasons {
			reasons[i] = "None"
		}
		reasons[0] = "TransactionConflict"
		return c.cancel(reasons...)
	case "PutItem", "UpdateItem", "DeleteItem":
		return c.refuse("TransactionConflictException")
	}
	return c.pass()
}

// TestFaultsThatStay: at the deadline each operation ends with an error of kind Unavailable, and has written nothing.
func TestFaultsThatStay(t *testing.T) {
	t.Parallel()
	faults := map[string]func(*call) (*http.Response, error){
		"throttled":    func(c *call) (*http.Response, error) { return c.refuse("ProvisionedThroughputExceededException") },
		"no answer":    (*call).hang,
		"no table":     func(c *call) (*http.Response, error) { return c.refuse("ResourceNotFoundException") },
		"no right":     func(c *call) (*http.Response, error) { return c.refuse("AccessDeniedException") },
		"broken off":   func(*call) (*http.Response, error) { return nil, errLost },
		"not even one": nil,
	}
	for name, fault := range faults {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := filled(t, shared.endpoint)
			before := db.contents(t)
			all := operations()
			atOnce(len(all), func(i int) {
				op, ctx := all[i], within(t, 60*time.Millisecond)
				if fault == nil {
					var cancel context.CancelFunc
					ctx, cancel = context.WithCancel(t.Context())
					cancel()
				}
				client, tap := db.through(t, fault)
				err := op.run(ctx, db, client)
				mendable := name != "no table" && name != "no right"
				if err == nil || mendable && apierror.From(err).Kind != apierror.Unavailable {
					t.Errorf("%s: %v", op.name, err)
				}
				if fault == nil && tap.calls() != "" {
					t.Errorf("%s: called %s after its time was over", op.name, tap.calls())
				}
			})
			if after := db.contents(t); before != after {
				t.Errorf("something was written:\n%s", cmp.Diff(strings.Split(before, "\n"), strings.Split(after, "\n")))
			}
		})
	}
}

// contents is all that is in the tables that operations write, as text.
func (db *database) contents(tb testing.TB) string {
	tb.Helper()
	var all []string
	for _, table := range []string{"FeatureTypes", "ContextFields", "Feedback", "Users", "PersonalAccessTokens", "ApiTokens"} {
		for _, item := range db.scan(tb, table) {
			all = append(all, fmt.Sprintf("%s %s", table, text(dynamo.M(item))))
		}
	}
	slices.Sort(all)
	return strings.Join(all, "\n")
}

// TestCrashAfterEachWrite ends the process, so to speak, after the k-th write of an operation: nothing is half made.
func TestCrashAfterEachWrite(t *testing.T) {
	t.Parallel()
	for _, op := range operations() {
		t.Run(op.name, func(t *testing.T) {
			t.Parallel()
			for k := 1; ; k++ {
				db := filled(t, shared.endpoint)
				writes, crashed := 0, false
				ctx, crash := context.WithCancel(t.Context())
				client, _ := db.through(t, func(c *call) (*http.Response, error) {
					if crashed {
						return nil, errLost
					}
					if c.operation == "GetItem" || c.operation == "BatchGetItem" || c.operation == "Scan" || c.operation == "Query" {
						return c.pass()
					}
					if writes++; writes < k {
						return c.pass()
					}
					crashed = true
					answer, err := c.lose()
					crash()
					return answer, err
				})
				err := op.run(ctx, db, client)
				crash()
				db.whole(t)
				if !crashed {
					if err != nil {
						t.Error(err)
					}
					if k > 2 {
						t.Errorf("%d writes: more than one", k-1)
					}
					return
				}
			}
		})
	}
}

func createAPIToken(ctx context.Context, db *database, c *dynamodb.Client) error {
	token, err := apitoken.NewStore(c, db.tables).Create(ctx, apitoken.APIToken{Name: "n"}, rand.Reader)
	if err != nil {
		return err
	}
	stored, err := apitoken.NewStore(db.client, db.tables).Get(ctx, token.Selector)
	return errors.Join(err, must(stored.Verifier == token.Verifier()))
}

// text is an attribute's value on one line.
func text(value types.AttributeValue) string {
	switch v := value.(type) {
	case *types.AttributeValueMemberM:
		line := ""
		for _, name := range slices.Sorted(maps.Keys(v.Value)) {
			line += name + "=" + text(v.Value[name]) + " "
		}
		return line
	case *types.AttributeValueMemberL:
		line := ""
		for _, element := range v.Value {
			line += text(element) + ","
		}
		return line
	}
	return fmt.Sprint(reflect.ValueOf(value).Elem().Field(0))
}
