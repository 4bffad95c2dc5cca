package oidc

import (
	"cmp"
	"encoding/base64"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

const (
	maxLength     = 8192 // of a token, in bytes
	maxCharacters = 255  // of a subject, a name and an e-mail address
	leeway        = time.Minute
	maxTime       = 253402300799 // the end of the year 9999
)

// algorithms lists the algorithms of signatures that are accepted.
var algorithms = []jose.SignatureAlgorithm{jose.RS256, jose.ES256, jose.PS256, jose.EdDSA}

// IsJWT reports whether a credential has the form of a JWT: three parts in base64url, of which the first is a JSON
// object.
func IsJWT(value string) bool {
	if strings.Count(value, ".") != 2 {
		return false
	}
	parts, err := split(value)
	return err == nil && jsontext.Value(parts[0]).IsValid(jsontext.AllowDuplicateNames(true)) &&
		jsontext.Value(parts[0]).Kind() == '{'
}

var errForm = errors.New("not three parts in base64url")

// split decodes the parts of a token. Each text has one spelling: neither line breaks nor surplus bits are ignored.
func split(token string) (parts [3][]byte, err error) {
	texts := strings.Split(token, ".")
	if len(texts) != len(parts) || strings.ContainsAny(token, "\r\n") {
		return parts, errForm
	}
	for i, text := range texts {
		if parts[i], err = base64.RawURLEncoding.Strict().DecodeString(text); err != nil {
			return parts, errForm
		}
	}
	return parts, nil
}

// header contains the header parameters that decide. jwk, jku, x5u and x5c are ignored.
type header struct {
	Algorithm jose.SignatureAlgorithm `json:"alg"`
	KeyID     string                  `json:"kid"`
	Type      string                  `json:"typ"`
	Critical  jsontext.Value          `json:"crit"`
	Base64    jsontext.Value          `json:"b64"` // RFC 7797: it changes what is signed
}

// Token is a token whose form and header have been checked. Its claims are what its sender says: only a method of Issuer
// verifies the signature.
type Token struct {
	text   string
	header header
	claims map[string]jsontext.Value
}

// Parse reads a token. Its error is a *RejectedError.
func Parse(token string) (Token, error) {
	if len(token) > maxLength {
		return Token{}, &RejectedError{TooLong}
	}
	parts, err := split(token)
	if err != nil {
		return Token{}, &RejectedError{Malformed}
	}
	// Both are decoded strictly: no duplicate properties, no other letter case, no invalid UTF-8.
	t := Token{text: token}
	if json.Unmarshal(parts[0], &t.header) != nil || json.Unmarshal(parts[1], &t.claims) != nil || t.claims == nil {
		return Token{}, &RejectedError{Malformed}
	}
	if reason := t.header.check(); reason != "" {
		return Token{}, &RejectedError{reason}
	}
	return t, nil
}

// Text returns the value of a claim that is a string, or "".
func (t Token) Text(claim string) string { return text(t.claims[claim]) }

// Has reports whether the token has a claim.
func (t Token) Has(claim string) bool { return t.claims[claim] != nil }

// Audiences returns the audiences of the token.
func (t Token) Audiences() []string { return texts(t.claims["aud"]) }

// claimsOf returns the claims of a token about its owner.
func (i *Issuer) claimsOf(t Token) Claims {
	claims := Claims{
		Issuer: i.config.Issuer, Subject: t.Text("sub"),
		Name: cmp.Or(display(t.claims["name"]), display(t.claims["preferred_username"])),
	}
	issued, ok := numericDate(t.claims["iat"])
	if !ok {
		issued = i.config.Now()
	}
	claims.IssuedAt = issued
	if i.config.GroupsClaim != "" {
		claims.Groups = texts(t.claims[i.config.GroupsClaim])
	}
	// with white space around it, it is no address
	if email := t.Text("email"); email == display(t.claims["email"]) {
		claims.Email = email
	}
	claims.EmailVerified = claims.Email != "" && string(t.claims["email_verified"]) == "true" // not the text "true"
	return claims
}

// check returns why the header is rejected, or "".
func (h header) check() Reason {
	switch {
	case !slices.Contains(algorithms, h.Algorithm):
		return Algorithm
	case h.Critical != nil || h.Base64 != nil: // no extension is known here
		return Critical
	case h.Type != "" && strings.TrimPrefix(strings.ToLower(h.Type), "application/") != "jwt": // RFC 7519, section 5.1
		return Type
	}
	return ""
}

// checkClaims returns why the claims are rejected, or "". longest is the longest life of a token, which begins now if the
// token does not say when it was issued; 0: any.
//
// An ID token is recognized by what other tokens of the issuer have (RFC 8725, section 3.11): access and refresh tokens
// of Keycloak have another payload typ, and logout tokens and security events have the claim events.
func (i *Issuer) checkClaims(t Token, audience string, longest time.Duration) Reason {
	now := i.config.Now()
	if t.Has("typ") && t.Text("typ") != "ID" || t.Has("events") {
		return Type
	}
	if t.Text("iss") != i.config.Issuer {
		return WrongIssuer
	}
	audiences := t.Audiences()
	if !slices.Contains(audiences, audience) || (t.Has("azp") || len(audiences) > 1) && t.Text("azp") != audience {
		return Audience
	}
	expires, ok := numericDate(t.claims["exp"])
	if !ok {
		return Malformed
	}
	if !now.Before(expires.Add(leeway)) {
		return Expired
	}
	issued := now
	for _, name := range []string{"nbf", "iat"} {
		if !t.Has(name) {
			continue
		}
		from, ok := numericDate(t.claims[name])
		if !ok {
			return Malformed
		}
		if from.After(now.Add(leeway)) {
			return NotYetValid
		}
		if name == "iat" {
			issued = from
		}
	}
	if longest != 0 && expires.Sub(issued) > longest {
		return Lifetime
	}
	if subject := t.Text("sub"); subject == "" || hasControl(subject) {
		return Subject
	}
	return ""
}

// text returns the value of a string, or "".
func text(value jsontext.Value) string {
	s, err := jsontext.AppendUnquote(nil, value)
	if err != nil { // it is no string
		return ""
	}
	return string(s)
}

// texts returns the values of an array of strings, or of a string. It returns nil for anything else.
func texts(value jsontext.Value) (all []string) {
	if value.Kind() == '"' {
		return []string{text(value)}
	}
	if value.Kind() != '[' || json.Unmarshal(value, &all) != nil {
		return nil
	}
	return all
}

// display returns a string that can be stored and shown, or "".
func display(value jsontext.Value) string {
	s := strings.TrimSpace(text(value))
	if utf8.RuneCountInString(s) > maxCharacters || hasControl(s) {
		return ""
	}
	return s
}

func hasControl(s string) bool { return strings.ContainsFunc(s, unicode.IsControl) }

// numericDate returns the time that a number of seconds since 1970 stands for. It may have a fraction.
func numericDate(value jsontext.Value) (time.Time, bool) {
	seconds, err := strconv.ParseFloat(string(value), 64) // no other JSON value can be parsed
	if err != nil || seconds < 0 || seconds > maxTime {
		return time.Time{}, false
	}
	return time.UnixMilli(int64(seconds * 1000)), true
}
