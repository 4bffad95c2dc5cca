package contract_test

import (
	"crypto/rand"
	"fmt"
	"net/http"
	"strconv"
	"testing"
	"time"

	"toggleadmin/pkg/auth"
	"toggleadmin/pkg/user"
)

// need is the column "needs" of the contract's section 3.
type need int

const (
	anyCredential need = iota
	adminPermission
	identifiableUser
)

// operation is one of the seven.
type operation struct {
	name    string // its section of specification and contract
	needs   need
	success int
	valid   func(t *testing.T, s *service, caller int64) call // one that succeeds for that user (0: none) if it may; without credential
	bad     string                                            // a body that is 400; empty: the operation has no body
	unknown string                                            // a target that is 404; empty: the operation has no 404 of its own
}

// feedbackPath and the like are the operations' paths with a parameter as it goes over the wire.
func feedbackPath(id string) string { return "/api/admin/feedback/" + id }
func lifetimePath(id string) string { return "/api/admin/feature-types/" + id + "/lifetime" }
func tokenPath(id string) string    { return "/api/admin/service-account/" + id + "/token" }
func trafficPath(period string) string {
	return "/api/admin/metrics/traffic/" + period
}
func ownTokenPath(id string) string { return "/api/admin/user/tokens/" + id }

const (
	typesPath   = "/api/admin/feature-types"
	contextPath = "/api/admin/context"
)

func putFeedback(id, body string) call {
	return call{method: http.MethodPut, target: feedbackPath(id), body: body}
}

func putLifetime(id, body string) call {
	return call{method: http.MethodPut, target: lifetimePath(id), body: body}
}

func postToken(account int64, body string) call {
	return call{method: http.MethodPost, target: tokenPath(strconv.FormatInt(account, 10)), body: body}
}

func get(target string) call { return call{method: http.MethodGet, target: target} }

func deleteToken(id string) call { return call{method: http.MethodDelete, target: ownTokenPath(id)} }

// newToken is a body that creates a token with a description of its own.
func newToken() string {
	return fmt.Sprintf(`{"description":%q,"expiresAt":"2199-01-01T00:00:00Z"}`, rand.Text())
}

func operations() []operation {
	return []operation{
		{
			name: "4.1 update feedback", needs: identifiableUser, success: 200, bad: `{"neverShow":1}`,
			valid: func(*testing.T, *service, int64) call {
				return putFeedback("survey-"+rand.Text(), `{"neverShow":true}`)
			},
		},
		{
			name: "4.2 list feature types", needs: anyCredential, success: 200,
			valid: func(*testing.T, *service, int64) call { return get(typesPath) },
		},
		{
			name: "4.3 update a type's lifetime", needs: adminPermission, success: 200, bad: `{"lifetimeDays":-1}`,
			valid: func(t *testing.T, s *service, _ int64) call {
				t.Helper()
				return putLifetime(s.featureType(t, nil), `{"lifetimeDays":3}`)
			},
			unknown: lifetimePath("no-such-type"),
		},
		{
			name: "4.4 list context fields", needs: anyCredential, success: 200,
			valid: func(*testing.T, *service, int64) call { return get(contextPath) },
		},
		{
			name: "4.5 create a service account's token", needs: adminPermission, success: 201, bad: `{"description":"x"}`,
			valid: func(t *testing.T, s *service, _ int64) call {
				t.Helper()
				return postToken(s.serviceAccount(t), newToken())
			},
			unknown: tokenPath("2147483647"),
		},
		{
			name: "4.6 get traffic usage", needs: adminPermission, success: 200,
			valid: func(*testing.T, *service, int64) call { return get(trafficPath("2011-03")) },
		},
		{
			name: "4.7 delete own PAT", needs: identifiableUser, success: 200,
			valid: func(t *testing.T, s *service, caller int64) call {
				t.Helper()
				if caller == 0 {
					return deleteToken("1")
				}
				owner, err := s.users().Get(patient(t), caller)
				must(t, err)
				id, _ := s.patUntil(t, caller, owner.Kind, time.Now().AddDate(1, 0, 0))
				return deleteToken(strconv.FormatInt(id, 10))
			},
			unknown: ownTokenPath("2147483647"),
		},
	}
}

// hasBody says whether the operation takes one.
func (o operation) hasBody() bool { return o.bad != "" }

// allowed gives a credential that may perform the operation, and its user; 0: none.
func (o operation) allowed(t *testing.T, s *service) (token string, caller int64) {
	t.Helper()
	caller = s.account(t, user.Person, auth.RoleAdmin)
	return s.pat(t, caller, user.Person), caller
}
