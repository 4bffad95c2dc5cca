// Package person administers people: it lists, finds, creates, changes, disables and deletes them. People sign in at an
// OpenID Connect issuer, so they have no passwords here.
//
// Package user stores the people, as it does for toggleadmin users.
package person

import (
	"net/http"

	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/jsonbody"
)

// inList is a person in usersSchema in api/openapi.yaml.
type inList struct {
	user.Response

	Disabled bool    `json:"disabled"`
	Groups   []int64 `json:"groups"` // ids, also of those by the last ID token

	Identity *user.Identity `json:"identity,omitempty"` // with which the person signs in
}

// created is createUserResponseSchema in api/openapi.yaml.
type created struct {
	user.Response

	InviteLink string `json:"inviteLink"`
	EmailSent  bool   `json:"emailSent"` // always false
}

// pathID returns the id of a person that the path parameter id contains, or a 404.
func pathID(r *http.Request) (int64, error) {
	id, ok := user.ParseID(r.PathValue("id"))
	if !ok {
		return 0, user.NoPerson(r)
	}
	return id, nil
}

// named returns err. If its kind is NotFound, it returns user.NoPerson instead, which has the id as the client sent it.
func named(r *http.Request, err error) error {
	if apierror.KindOf(err) == apierror.NotFound {
		return user.NoPerson(r)
	}
	return err
}

// hasEmail is the rule that an e-mail address, if it is sent, is one.
func hasEmail(body jsonbody.Object) []apierror.Detail {
	text, sent := body.TextOK("email")
	if _, ok := user.ParseEmail(text); sent && !ok {
		return []apierror.Detail{apierror.At("/body/email", "must be an e-mail address, such as ada@example.com").Sent(text)}
	}
	return nil
}
