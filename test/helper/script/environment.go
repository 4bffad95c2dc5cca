package script

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"toggleadmin/pkg/seed"
)

// Environment is a running service.
type Environment struct {
	Name        string // Local, SAM, Ministack or AWS
	BaseURL     string // with the stage, without a slash at the end
	ClientURL   string // for applications, without a slash at the end; empty if they cannot be reached
	Credentials seed.Credentials
}

// The names of environments.
const (
	Local     = "local"     // the local gateway, make run
	SAM       = "sam"       // sam local start-api
	Ministack = "ministack" // a stack in the AWS emulator
	AWS       = "aws"       // a deployed stage
)

// difference is a property that some environments do not have. Scripts use its name as a condition: [raw-paths] GET …
type difference struct {
	condition string
	lacking   []string // the environments without the property
	reason    string   // what these do instead
	// undocumented reports whether a response that api/openapi.yaml does not declare is due to the difference. nil: none
	// is.
	undocumented func(r *response) bool
}

// differences is the complete list of the differences that scripts can observe.
var differences = []difference{
	{
		"gateway-responses", []string{SAM},
		"sam local ignores GatewayResponses: an invalid credential is 403, a missing one 401, each with its own body and headers",
		func(r *response) bool { return r.status >= http.StatusBadRequest && r.gatewayMessage() != "" },
	},
	{
		"raw-paths", []string{SAM, Ministack},
		"sam local and ministack decode the path before they match it: %2F splits a segment, %25 is decoded twice",
		func(r *response) bool {
			return strings.Contains(r.request, "%2F") && r.status == http.StatusNotFound ||
				strings.Contains(r.request, "%25") && r.status == http.StatusOK
		},
	},
	{
		"all-methods", []string{SAM},
		"sam local returns 502 for HEAD on a path that has a GET, and 403 for TRACE and for other methods of /, without calling a function",
		func(r *response) bool {
			return strings.HasPrefix(r.request, http.MethodHead) && r.status == http.StatusBadGateway
		},
	},
	{"request-ids", []string{SAM}, "sam local uses one request ID for all requests", nil},
	{"extended-request-ids", []string{SAM, Ministack}, "sam local and ministack send no X-Amz-Apigw-Id", nil},
	{
		"own-address", []string{Ministack},
		"ministack sends neither X-Forwarded-Proto nor requestContext.domainName, from which a function derives its address",
		nil,
	},
	{"access-log", []string{SAM, Ministack}, "sam local and ministack write no access log, so requests are not counted",
		nil},
}

// clientAPI is the condition that scripts can send requests as applications do. sam local and ministack have no
// function URL.
const clientAPI = "client-api"

func (e Environment) condition(name string) (bool, error) {
	if name == clientAPI {
		return e.ClientURL != "", nil
	}
	for _, d := range differences {
		if d.condition == name {
			return !slices.Contains(d.lacking, e.Name), nil
		}
	}
	return false, fmt.Errorf("unknown condition %q: environment.go lists them", name)
}

func (e Environment) check() error {
	if !slices.Contains([]string{Local, SAM, Ministack, AWS}, e.Name) {
		return fmt.Errorf("unknown environment %q: it is local, sam, ministack or aws", e.Name)
	}
	for _, who := range credentials {
		if e.credential(who) == "" {
			return fmt.Errorf("the credentials have no token of %s", who)
		}
	}
	if len(e.Credentials.ServiceAccounts) == 0 {
		return errors.New("the credentials have no service account")
	}
	return nil
}

// credentials are the names that scripts use for credentials.
var credentials = []string{"api-token", "admin", "editor", "viewer"}

// credential returns the credential of "api-token" or of a person, or empty if there is none.
func (e Environment) credential(who string) string {
	if who == "api-token" {
		return e.Credentials.APIToken
	}
	return e.user(who).PAT
}

func (e Environment) user(name string) seed.User {
	for _, user := range e.Credentials.Users {
		if user.Name == name {
			return user
		}
	}
	return seed.User{}
}

// tolerates reports whether a response that api/openapi.yaml does not declare is due to a difference of the
// environment.
func (e Environment) tolerates(r *response) bool {
	return slices.ContainsFunc(differences, func(d difference) bool {
		return slices.Contains(d.lacking, e.Name) && d.undocumented != nil && d.undocumented(r)
	})
}

// unauthenticated compares a response with the one to an invalid or missing credential.
func (e Environment) unauthenticated(r *response) error {
	if e.Name == SAM {
		got := fmt.Sprint(r.status, " ", r.gatewayMessage())
		return assert(got == "403 User is not authorized to access this resource" || got == "401 Unauthorized",
			"sam local returns its own 403 for an invalid credential and its own 401 for a missing one")
	}
	if challenge := r.header.Values("WWW-Authenticate"); r.status != http.StatusUnauthorized ||
		!slices.Equal(challenge, []string{"Bearer"}) {
		return assert(false, "status %d and WWW-Authenticate %q, want 401 and Bearer", r.status, challenge)
	}
	return r.errorObject("AuthenticationRequired", func(message string) bool {
		return message == "You need a valid credential in the Authorization header."
	})
}
