package trust

import (
	_ "embed"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/datetime"
	"toggleadmin/pkg/platform/issuerurl"
	"toggleadmin/pkg/platform/jsonbody"
	"toggleadmin/pkg/platform/lambdahttp"
)

//go:embed create.schema.json
var createSchema []byte

// The limits of the claims of a trust.
const (
	maxClaims    = 10
	maxClaimName = 64 // characters
)

// People is what Create needs to know about the issuer at which people sign in.
type People struct {
	Issuer   string // "": none
	ClientID string // the audience of their tokens
	Loopback bool   // whether an issuer on this machine can have http
}

// Create serves POST /api/admin/service-account/{id}/trust.
func Create(trusts *Store, now func() time.Time, people People) lambdahttp.HandlerFunc {
	schema := jsonbody.MustCompile(createSchema)
	return func(w http.ResponseWriter, r *http.Request) error {
		if access.PrincipalFrom(r.Context()).IsPipeline() {
			return apierror.New(apierror.NoAccess, "A pipeline cannot create trusts: it could then outlive its own.")
		}
		body, err := schema.Read(r)
		if err != nil {
			return err
		}
		next := read(body)
		if err := apierror.InvalidIfAny(next.checkBody(hostName(r), people)); err != nil {
			return err
		}
		if next.AccountID, err = user.PathID(r); err != nil {
			return err
		}
		next.CreatedAt = datetime.Milliseconds(now())
		created, err := trusts.Create(r.Context(), next)
		if err != nil {
			return user.NameServiceAccount(r, err)
		}
		w.Header().Set("Location", r.URL.JoinPath(strconv.FormatInt(created.ID, 10)).String())
		return lambdahttp.WriteJSON(w, http.StatusCreated, newResponse(created))
	}
}

func read(body jsonbody.Object) Trust {
	t := Trust{
		Description: body.Text("description"),
		Issuer:      body.Text("issuer"),
		Audience:    body.Text("audience"),
		AnyRef:      body.Bool("anyRef"),
	}
	claims, _ := body["claims"].(map[string]any)
	t.Claims = map[string]string{}
	for name, value := range claims {
		t.Claims[name], _ = value.(string)
	}
	return t
}

// hostName returns the host name that the client has called.
func hostName(r *http.Request) string {
	if name, _, err := net.SplitHostPort(r.Host); err == nil {
		return name
	}
	return r.Host
}

// names reports whether an audience contains a host name, which is not a part of another one.
func names(audience, host string) bool {
	isPart := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '-' || r == '.' }
	for part := range strings.FieldsFuncSeq(audience, func(r rune) bool { return !isPart(r) }) {
		if strings.EqualFold(part, host) {
			return true
		}
	}
	return false
}

// checkBody returns what is wrong with a trust. host is the host name of this API.
func (t Trust) checkBody(host string, people People) (details []apierror.Detail) {
	if err := issuerurl.Check(t.Issuer, people.Loopback); err != nil {
		details = append(details, apierror.At("/body/issuer", "must be the URL of an issuer: %s", err).Sent(t.Issuer))
	}
	if !names(t.Audience, host) {
		details = append(details, apierror.At("/body/audience", "must contain %q, the host name of this API: a token "+
			"for another service must not be accepted here", host).Sent(t.Audience))
	}
	if t.Issuer == people.Issuer && t.Audience == people.ClientID {
		details = append(details, apierror.At("/body/audience", "must not be the audience of people who sign in"))
	}
	if invalid := t.checkClaims(); len(invalid) > 0 {
		return append(details, invalid...)
	}
	return append(details, t.check(t.Issuer == people.Issuer)...)
}

// checkClaims returns what is wrong with the number and the names of the claims.
func (t Trust) checkClaims() (details []apierror.Detail) {
	if n := len(t.Claims); n < 1 || n > maxClaims {
		details = append(details, apierror.At("/body/claims", "must have 1 to %d properties; you sent %d", maxClaims, n))
	}
	for name := range t.Claims {
		if n := utf8.RuneCountInString(name); n < 1 || n > maxClaimName {
			details = append(details, apierror.At("/body/claims", "must have names of 1 to %d characters; you sent %q",
				maxClaimName, apierror.Echo(name)))
		}
	}
	return details
}
