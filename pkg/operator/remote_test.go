package operator_test

import (
	"context"
	"crypto/rand"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync"
	"testing"
	"time"

	"toggleadmin/pkg/local"
	"toggleadmin/pkg/operator"
	"toggleadmin/pkg/operator/apiclient"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/localtest"
)

func newRemote(t *testing.T, address, token string) *operator.Remote {
	t.Helper()
	api, err := apiclient.New(address, token)
	assert.OK(t, err)
	return operator.NewRemote(api, time.Now, rand.Reader)
}

// Members that somebody else adds while a command changes a group are not lost.
func TestChangeMembersOfAGroupThatChanges(t *testing.T) {
	t.Parallel()
	service := localtest.Start(t, local.Config{DataDir: t.TempDir()})
	other := newRemote(t, service.BaseURL, service.Users[0].PAT)
	g, err := other.AddGroup(t.Context(), operator.GroupChange{Name: new("Team")})
	assert.OK(t, err)
	target, err := url.Parse(service.BaseURL)
	assert.OK(t, err)
	forward := httputil.NewSingleHostReverseProxy(target)
	var once sync.Once
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPut {
			once.Do(func() {
				_, err := other.ChangeMembers(context.WithoutCancel(r.Context()), g.ID, []int64{2}, nil)
				assert.OK(t, err)
			})
		}
		forward.ServeHTTP(w, r)
	}))
	t.Cleanup(proxy.Close)
	_, err = newRemote(t, proxy.URL, service.Users[0].PAT).ChangeMembers(t.Context(), g.ID, []int64{3}, nil)
	assert.Equal(t, true, err != nil)
	g, err = other.Group(t.Context(), g.ID)
	assert.OK(t, err)
	assert.Equal(t, []int64{2}, g.Members)
}
