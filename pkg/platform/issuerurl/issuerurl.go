// Package issuerurl checks the URLs of OpenID Connect issuers. It is apart from package oidc, whose libraries most
// functions do not need.
package issuerurl

import (
	"errors"
	"net/url"
	"regexp"
	"strings"

	"toggleadmin/pkg/platform/loopback"
)

const maxLength = 255

// Check checks that a text can be the URL of an issuer. Only a loopback address may have http, and only if allowLoopback
// is true.
func Check(text string, allowLoopback bool) error {
	err := CheckDocument(text, allowLoopback)
	if err == nil && (len(text) > maxLength || strings.ContainsAny(text, "?# ")) {
		err = errors.New("it must have at most 255 characters, and neither query, fragment nor space")
	}
	return err
}

// CheckDocument checks that a text is an https URL without user name and password, such as that of a document of an
// issuer. Only a loopback address may have http, and only if allowLoopback is true.
func CheckDocument(text string, allowLoopback bool) error {
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return errors.New("it is not a URL")
	case u.Scheme == "http" && allowLoopback && loopback.IsHost(u.Hostname()):
	case u.Scheme == "http" && allowLoopback:
		return errors.New("it must begin with https://; only a loopback address can have http://")
	case u.Scheme != "https":
		return errors.New("it must begin with https://")
	}
	if !hostPattern.MatchString(u.Host) || u.User != nil {
		return errors.New("it must have a host name, and neither user name nor password")
	}
	return nil
}

// hostPattern is stricter than net/url: a host is safe in a Content-Security-Policy.
var hostPattern = regexp.MustCompile(`^([A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(:[0-9]+)?$`)
