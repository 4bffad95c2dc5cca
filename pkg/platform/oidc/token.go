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

	"github.com/coreos/go-oidc/v3/oidc"
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
var algorithms = []string{oidc.RS256, oidc.ES256, oidc.PS256, oidc.EdDSA}

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
	Algorithm string         `json:"alg"`
	KeyID     string         `json:"kid"`
	Type      string         `json:"typ"`
	Critical  jsontext.Value `json:"crit"`
	Base64    jsontext.Value `json:"b64"` // RFC 7797: it changes what is signed
}

// check checks everything but the signature, so that only a token that can be valid causes a fetch.
func (i *Issuer) check(token string) (header, Claims, error) {
	reject := func(r Reason) (header, Claims, error) { return header{}, Claims{}, &RejectedError{Reason: r} }
	if i.config.Issuer == "" {
		return reject(NotConfigured)
	}
	if len(token) > maxLength {
		return reject(TooLong)
	}
	parts, err := split(token)
	if err != nil {
		return reject(Malformed)
	}
	// Both are decoded strictly: no duplicate properties, no other letter case, no invalid UTF-8.
	var h header
	var members map[string]jsontext.Value
	if json.Unmarshal(parts[0], &h) != nil || json.Unmarshal(parts[1], &members) != nil || members == nil {
		return reject(Malformed)
	}
	claims := Claims{
		Issuer: i.config.Issuer, Subject: text(members["sub"]),
		Name: cmp.Or(display(members["name"]), display(members["preferred_username"])),
	}
	if i.config.GroupsClaim != "" {
		claims.Groups = texts(members[i.config.GroupsClaim])
	}
	// with white space around it, it is no address
	if email := text(members["email"]); email == display(members["email"]) {
		claims.Email = email
	}
	claims.EmailVerified = claims.Email != "" && string(members["email_verified"]) == "true" // not the text "true"
	reason := h.check()
	if reason == "" {
		reason = i.checkClaims(members)
	}
	if reason != "" {
		return reject(reason)
	}
	return h, claims, nil
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

// checkClaims returns why the claims are rejected, or "".
//
// An ID token is recognized by what other tokens of the issuer have (RFC 8725, section 3.11): access and refresh tokens
// of Keycloak have another payload typ, and logout tokens and security events have the claim events.
func (i *Issuer) checkClaims(members map[string]jsontext.Value) Reason {
	now := i.config.Now()
	if kind, present := members["typ"]; present && text(kind) != "ID" || members["events"] != nil {
		return Type
	}
	if text(members["iss"]) != i.config.Issuer {
		return WrongIssuer
	}
	audiences := texts(members["aud"])
	party, present := members["azp"]
	if !slices.Contains(audiences, i.config.ClientID) || (present || len(audiences) > 1) &&
		text(party) != i.config.ClientID {
		return Audience
	}
	expires, ok := numericDate(members["exp"])
	if !ok {
		return Malformed
	}
	if !now.Before(expires.Add(leeway)) {
		return Expired
	}
	for _, name := range []string{"nbf", "iat"} {
		value, present := members[name]
		if !present {
			continue
		}
		from, ok := numericDate(value)
		if !ok {
			return Malformed
		}
		if from.After(now.Add(leeway)) {
			return NotYetValid
		}
	}
	if subject := text(members["sub"]); subject == "" || utf8.RuneCountInString(subject) > maxCharacters ||
		hasControl(subject) {
		return Subject
	}
	return ""
}

// text returns the value of a string, or "".
func text(value jsontext.Value) (s string) {
	if value.Kind() != '"' || json.Unmarshal(value, &s) != nil {
		return ""
	}
	return s
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
