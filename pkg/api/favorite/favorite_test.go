package favorite_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/api/favorite"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/accesstable"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/toggle"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/database"
	"toggleadmin/test/helper/toggles"
)

// as returns the context of a request by an account.
func as(t *testing.T, account int64) context.Context {
	t.Helper()
	return access.WithPrincipal(t.Context(), access.UserPrincipal(account, access.RoleViewer))
}

// Each account has favorites of its own. A toggle or project that is created again is none.
func TestFavorites(t *testing.T) {
	t.Parallel()
	db := database.New(t)
	store := favorite.NewStore(db.Client, db.Tables)
	a, b := toggles.New(t, `{"name":"a"}`), toggles.New(t, `{"name":"b"}`)
	again := toggles.New(t, `{"name":"a","createdAt":"2026-12-24T00:00:00Z"}`)
	project := access.ImplicitDefaultProject()
	shop := access.NewProject("shop", "Shop")
	shop.CreatedAt = new(toggles.Now())
	for _, f := range []favorite.Favorite{favorite.Feature(a), favorite.Feature(b), favorite.Feature(a), favorite.Project(&project)} {
		assert.OK(t, store.Add(as(t, 5), f))
	}
	assert.OK(t, store.Remove(as(t, 5), favorite.Feature(b)), store.Remove(as(t, 6), favorite.Feature(a)))
	has := func(account int64) (all []bool) {
		found, err := store.Get(as(t, account))
		assert.OK(t, err)
		for _, f := range []favorite.Favorite{
			favorite.Feature(a), favorite.Feature(b), favorite.Feature(again), favorite.Project(&project), favorite.Project(&shop),
		} {
			all = append(all, found.Has(f))
		}
		return all
	}
	assert.Equal(t, []bool{true, false, false, true, false}, has(5))
	assert.Equal(t, []bool{false, false, false, false, false}, has(6))
	assert.Equal(t, []bool{false, false, false, false, false}, has(0)) // an API token
	assert.OK(t, store.DeleteAccount(t.Context(), 5), store.DeleteAccount(t.Context(), 5))
	assert.Equal(t, []bool{false, false, false, false, false}, has(5))
}

func TestLimit(t *testing.T) {
	t.Parallel()
	db := database.New(t)
	store := favorite.NewStore(db.Client, db.Tables)
	feature := func(i int) favorite.Favorite {
		return favorite.Feature(toggle.Feature{Name: fmt.Sprint("f", i), CreatedAt: toggles.Created()})
	}
	item := accesstable.Key(accesstable.KindFavorites, "5")
	var elements []string
	for i := range favorite.Limit {
		elements = append(elements, fmt.Sprintf("f%d %d", i, toggles.Created().UnixMilli()))
	}
	item["features"] = &types.AttributeValueMemberSS{Value: elements}
	db.Put(t, db.Tables[accesstable.Table], item)
	assert.OK(t, store.Add(as(t, 5), feature(0)))
	err := store.Add(as(t, 5), feature(favorite.Limit))
	assert.Equal(t, apierror.Validation, apierror.KindOf(err))
	assert.Equal(t, "The maximum number of favorites (1000) is reached. Remove one first.", apierror.From(err).Message)
	assert.OK(t, store.Remove(as(t, 5), feature(0)), store.Add(as(t, 5), feature(favorite.Limit)))
}
