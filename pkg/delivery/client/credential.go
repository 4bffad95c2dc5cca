package client

import (
	"net/http"
	"strings"

	"toggleadmin/pkg/delivery/clienttokentable"
	"toggleadmin/pkg/platform/apierror"
)

const (
	bearer       = "bearer"
	headerAPIKey = "X-Api-Key" //nolint:gosec // the name of a header
)

// credentialOf returns what the header Authorization contains, with or without the scheme Bearer.
func credentialOf(r *http.Request) string {
	text := strings.TrimSpace(r.Header.Get("Authorization"))
	if scheme, rest, found := strings.Cut(text, " "); found && strings.EqualFold(scheme, bearer) {
		return strings.TrimSpace(rest)
	}
	return text
}

// errNoToken is the response without a valid client token.
func errNoToken() error {
	return apierror.New(apierror.AuthenticationRequired, "You need a valid client token in the Authorization header.")
}

// errOtherKind is the response to a credential that cannot be used for the path.
func errOtherKind(needs string) error {
	return apierror.Errorf(apierror.NoAccess, "This path needs %s.", needs)
}

// A kind is a group of paths with the types of tokens that can use them.
type kind struct {
	types []clienttokentable.Type
	needs string // for an error
}

func backend() kind {
	return kind{[]clienttokentable.Type{clienttokentable.Backend}, "a client token of the type backend"}
}

func frontend() kind {
	return kind{[]clienttokentable.Type{clienttokentable.Frontend}, "a client token of the type frontend"}
}

func anyType() kind {
	return kind{[]clienttokentable.Type{clienttokentable.Backend, clienttokentable.Frontend}, "a client token"}
}
