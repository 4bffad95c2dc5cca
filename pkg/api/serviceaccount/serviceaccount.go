// Package serviceaccount manages service accounts: it lists, creates, updates and deletes them.
//
// Package user stores the accounts, package pat their tokens. A deletion begins with one write after which the account
// and its tokens are unusable, so that a crash leaves nothing usable behind, and the same call can be repeated until it
// ends.
package serviceaccount

import (
	"toggleadmin/pkg/api/pat"
	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/platform/datetime"
)

// Account is a service account with its tokens.
type Account struct {
	user.User
	Tokens []pat.PAT // ordered by id
}

// response is serviceAccountSchema in api/openapi.yaml.
type response struct {
	ID        int64          `json:"id"`
	Name      string         `json:"name"`
	Username  string         `json:"username"`
	RootRole  int64          `json:"rootRole"`
	CreatedAt *string        `json:"createdAt"`
	SeenAt    *string        `json:"seenAt"` // always null
	IsAPI     bool           `json:"isAPI"`  // always false
	Tokens    []pat.Response `json:"tokens"`
}

func newResponse(a Account) response {
	return response{
		ID: a.ID, Name: a.Name, Username: a.Username, RootRole: int64(a.Role),
		CreatedAt: datetime.FormatOptional(a.CreatedAt), Tokens: pat.NewResponses(a.Tokens),
	}
}
