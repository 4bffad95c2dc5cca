package contextfield_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"toggleadmin/pkg/api/contextfield"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/dynamo"
)

func TestList(t *testing.T) {
	t.Parallel()
	store, db := newStore(t)
	list := func(want string) {
		t.Helper()
		w := httptest.NewRecorder()
		err := contextfield.List(store)(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/api/admin/context",
			nil))
		if diff := cmp.Diff(want, w.Body.String()); err != nil || w.Code != http.StatusOK || diff != "" {
			t.Errorf("%d, %v, %s", w.Code, err, diff)
		}
	}
	list(`[]`)
	create(t, store, db, contextfield.ContextField{
		Name: "a", Description: new("d"), Stickiness: true, SortOrder: 7,
		CreatedAt:   new(time.Date(2026, 11, 20, 5, 39, 0, 0, time.UTC)),
		LegalValues: []contextfield.LegalValue{{Value: "v", Description: new("w")}, {Value: "x"}},
	})
	item := db.Get(t, db.Tables.ContextFields, dynamo.Item{"name": dynamo.S("a")})
	item["usage"] = dynamo.M(dynamo.Item{"p": dynamo.N(2), "q": dynamo.N(1), "r": dynamo.N(0)})
	db.Put(t, db.Tables.ContextFields, item)
	create(t, store, db, contextfield.ContextField{Name: "b", SortOrder: 8})
	list(`[{"name":"a","description":"d","stickiness":true,"sortOrder":7,"createdAt":"2026-11-20T05:39:00.000Z",` +
		`"usedInFeatures":3,"usedInProjects":2,` +
		`"legalValues":[{"value":"v","description":"w"},{"value":"x"}]},` +
		`{"name":"b","description":null,"stickiness":false,"sortOrder":8,"createdAt":null,"usedInFeatures":0,"usedInProjects":0,"legalValues":[]}]`)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := contextfield.List(store)(httptest.NewRecorder(), httptest.NewRequestWithContext(ctx, http.MethodGet, "/", nil))
	if apierror.From(err).Kind != apierror.Unavailable || !strings.HasPrefix(err.Error(), "list context fields: ") {
		t.Error(err)
	}
}
