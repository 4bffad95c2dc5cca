package script

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

// Ground is where the scripts run.
type Ground struct {
	Name        string // local, sam, ministack or aws
	BaseURL     string // with the stage, without a slash at the end
	Credentials Credentials
	Now         func() time.Time
}

// The grounds' names.
const (
	Local     = "local"     // the local gateway, make run
	SAM       = "sam"       // sam local start-api
	Ministack = "ministack" // a stack that sam deploy made in the emulator
	AWS       = "aws"       // a deployed stage
)

// difference is something that does not hold on every ground. Scripts use its name as a condition: [raw-paths] GET …
type difference struct {
	condition string
	holds     []string // the grounds on which it holds
	reason    string   // what the others do instead
}

// differences is the whole list of what differs between the grounds as far as the scripts see it.
func differences() []difference {
	return []difference{
		{"gateway-responses", []string{Local, Ministack, AWS},
			"sam local ignores GatewayResponses: an invalid credential is 403, a missing one 401, each with its own body and without our headers"},
		{"raw-paths", []string{Local, AWS},
			"sam local and ministack hand the path to the function decoded: %2F splits a segment, %25 is decoded twice, a broken escape is theirs"},
		{"all-methods", []string{Local, Ministack, AWS},
			"sam local answers HEAD on a path that has a GET with 502, and TRACE with 403 before any function is called"},
		{"request-ids", []string{Local, Ministack, AWS},
			"sam local gives every request the same request id"},
		{"own-address", []string{Local, SAM, AWS},
			"ministack sends neither X-Forwarded-Proto nor requestContext.domainName, of which a function makes its own address"},
		{"access-log", []string{Local, AWS},
			"sam local and ministack write no access log, so nobody counts requests"},
	}
}

// Differences names the conditions that do not hold on a ground. What it does instead is for its own suite to assert.
func Differences(ground string) []string {
	var names []string
	for _, d := range differences() {
		if !slices.Contains(d.holds, ground) {
			names = append(names, d.condition)
		}
	}
	return names
}

// condition says whether the condition of this name holds on the ground.
func (g Ground) condition(name string) (bool, error) {
	for _, d := range differences() {
		if d.condition == name {
			return slices.Contains(d.holds, g.Name), nil
		}
	}
	return false, fmt.Errorf("unknown condition %q: ground.go lists them", name)
}

func (g Ground) check() error {
	if !slices.Contains([]string{Local, SAM, Ministack, AWS}, g.Name) {
		return fmt.Errorf("unknown ground %q: it is local, sam, ministack or aws", g.Name)
	}
	return g.Credentials.check()
}

// forgives says whether an answer that the API's document does not foresee is the ground's own.
func (g Ground) forgives(a *answer) bool {
	lacks := func(condition string) bool {
		holds, err := g.condition(condition)
		return err == nil && !holds
	}
	_, own := ownMessage(a)
	method, path, _ := strings.Cut(a.request, " ")
	switch {
	case own && lacks("gateway-responses"):
		return a.status >= http.StatusBadRequest
	case method == http.MethodHead && lacks("all-methods"):
		return a.status == http.StatusBadGateway
	case strings.Contains(path, "%2F") && lacks("raw-paths"):
		return a.status == http.StatusNotFound // the segment is split
	case strings.Contains(path, "%25") && lacks("raw-paths"):
		return a.status == http.StatusOK // decoded twice, it may fit
	}
	return false
}

// unauthenticated says what is wrong with the answer to an invalid or missing credential.
func (g Ground) unauthenticated(a *answer) error {
	if g.Name == SAM {
		message, own := ownMessage(a)
		if own && a.status == http.StatusForbidden && message == "User is not authorized to access this resource" ||
			own && a.status == http.StatusUnauthorized && message == "Unauthorized" {
			return nil
		}
		return fmt.Errorf("sam local answers an invalid credential with its own 403, a missing one with its own 401; this is %s", a)
	}
	if a.status != http.StatusUnauthorized {
		return fmt.Errorf("status %d, want 401", a.status)
	}
	if got := a.header.Values("WWW-Authenticate"); !slices.Equal(got, []string{"Bearer"}) {
		return fmt.Errorf("WWW-Authenticate is %q, want Bearer", got)
	}
	return a.isError("AuthenticationRequired", "You need a valid credential in the Authorization header.")
}

// ownMessage gives the message of a body that has no other member: what gateways answer by themselves.
func ownMessage(a *answer) (string, bool) {
	var members map[string]any
	if err := json.Unmarshal(a.body, &members); err != nil || len(members) != 1 {
		return "", false
	}
	message, ok := members["message"].(string)
	return message, ok
}
