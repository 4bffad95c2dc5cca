package calls_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"toggleadmin/pkg/auth"
	"toggleadmin/pkg/dynamo"
	"toggleadmin/pkg/user"
)

const kilobyte = 1024

// TestContextFieldsAreOneCallPerMegabyte adds fields until there are 2.3 MB of them. DynamoDB cuts a page at 1 MB, and charges each page as
// a whole: 1 unit per 4 KB begun.
func TestContextFieldsAreOneCallPerMegabyte(t *testing.T) {
	t.Parallel()
	s := start(t)
	table := s.DynamoDB.Tables["ContextFields"]
	for i := range 9 {
		item := dynamo.Item{
			"name": dynamo.S(fmt.Sprint("large", i)), "description": dynamo.S(strings.Repeat("d", 256*kilobyte)), "sortOrder": dynamo.N(9),
			"stickiness": dynamo.Bool(false), "usage": dynamo.M(dynamo.Item{}),
		}
		if err := dynamo.PutNew(t.Context(), s.client, table, "name", item); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{pat}
	size, all := 0, 0
	for _, page := range s.pages(t, table) {
		size += page
		all++
		want = append(want, fmt.Sprintf("list-context-fields Scan %dr", (page+4*kilobyte-1)/(4*kilobyte)))
	}
	if all != 3 || size < 9*256*kilobyte {
		t.Fatalf("%d pages of together %d bytes", all, size)
	}
	status, got := s.count(t, "GET /api/admin/context", "viewer", "", "")
	if status != http.StatusOK {
		t.Errorf("status %d", status)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// pages gives the size of each page of a whole scan, by the rule of sizes.
func (s *service) pages(t *testing.T, table string) []int {
	t.Helper()
	var sizes []int
	for start := dynamo.Item(nil); ; {
		page, err := s.client.Scan(t.Context(), &dynamodb.ScanInput{TableName: &table, ExclusiveStartKey: start})
		if err != nil {
			t.Fatal(err)
		}
		size := 0
		for _, item := range page.Items {
			size += sizeOf(item)
		}
		sizes = append(sizes, size)
		if start = page.LastEvaluatedKey; start == nil {
			return sizes
		}
	}
}

// sizeOf is an item's size by DynamoDB's rule (Developer Guide, "DynamoDB item sizes and formats"), for the types that our tables have.
func sizeOf(item dynamo.Item) int {
	size := 0
	for name, value := range item {
		size += len(name)
		switch v := value.(type) {
		case *types.AttributeValueMemberS:
			size += len(v.Value)
		case *types.AttributeValueMemberN:
			size += (len(v.Value)+1)/2 + 1
		case *types.AttributeValueMemberB:
			size += len(v.Value)
		case *types.AttributeValueMemberBOOL:
			size++
		case *types.AttributeValueMemberM:
			size += 3 + len(v.Value) + sizeOf(v.Value)
		case *types.AttributeValueMemberL:
			size += 3 + len(v.Value)
			for _, element := range v.Value {
				size += sizeOf(dynamo.Item{"": element})
			}
		}
	}
	return size
}

// TestAnAccountWithAHundredTokensIsOneReadUnit is what the highest possible limit is chosen for.
func TestAnAccountWithAHundredTokensIsOneReadUnit(t *testing.T) {
	t.Parallel()
	s := start(t)
	table := s.DynamoDB.Tables["Users"]
	reserved := dynamo.Item{}
	for i := range 99 { // as long as keys can be; and the longest ids, as many as leave room for the token itself
		reserved[fmt.Sprintf("%022d", i)] = dynamo.N(auth.MaxID - int64(i))
	}
	account := dynamo.Item{
		"id": dynamo.N(7), "kind": dynamo.S(string(user.ServiceAccount)), "name": dynamo.S(strings.Repeat("n", 100)),
		"rootRole": dynamo.S(string(auth.RoleAdmin)), "disabled": dynamo.Bool(false), user.AttributePATs: dynamo.M(dynamo.Item{}),
	}
	if err := dynamo.PutNew(t.Context(), s.client, table, "id", account); err != nil {
		t.Fatal(err)
	}
	s.create(t, "hundredth", 7, time.Hour)
	update := "SET #pats.#key = :id"
	for key, id := range reserved {
		_, err := s.client.UpdateItem(t.Context(), &dynamodb.UpdateItemInput{
			TableName: &table, Key: user.Key(7), UpdateExpression: &update,
			ExpressionAttributeNames:  map[string]string{"#pats": user.AttributePATs, "#key": key},
			ExpressionAttributeValues: dynamo.Item{":id": id},
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	item, err := dynamo.Get(t.Context(), s.client, table, user.Key(7))
	if err != nil {
		t.Fatal(err)
	}
	size := sizeOf(item)
	if len(item.Map(user.AttributePATs)) != 100 || size > 4*kilobyte {
		t.Fatalf("%d tokens in %d bytes", len(item.Map(user.AttributePATs)), size)
	}
	remove := fmt.Sprintf("delete-own-token TransactWriteItems 2w+%dw", 2*((size+kilobyte-1)/kilobyte))
	for _, step := range []struct {
		request string
		want    []string
	}{
		{"GET /api/admin/feature-types", []string{pat, seen, "list-feature-types Scan 1r"}},
		{"DELETE /api/admin/user/tokens/{hundredth}", []string{pat, "delete-own-token GetItem 1r", remove}},
	} {
		status, got := s.count(t, step.request, "hundredth", "", "")
		if status != http.StatusOK {
			t.Errorf("%s: status %d", step.request, status)
		}
		if diff := cmp.Diff(step.want, got); diff != "" {
			t.Errorf("%s: %s", step.request, diff)
		}
	}
}
