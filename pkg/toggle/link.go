package toggle

import (
	"fmt"
	"net/url"
	"slices"
	"unicode/utf8"
)

// Link is a page about a toggle, such as a ticket.
type Link struct {
	ID    string  `json:"id"`
	URL   string  `json:"url"`
	Title *string `json:"title"` // nil: none
}

const (
	// MaxLinks is the maximum number of links of a toggle: those of the templates of its project, and others.
	MaxLinks = 30
	// MaxURL is the maximum number of characters of a URL.
	MaxURL = 1000
)

var errURL = fmt.Errorf("must be an http or https URL of at most %d characters", MaxURL)

// IsWebURL reports whether a text is an http or https URL with a host.
func IsWebURL(text string) bool {
	parsed, err := url.Parse(text)
	return err == nil && (parsed.Scheme == "http" || parsed.Scheme == "https") && parsed.Host != ""
}

// CheckLinkURL returns nil if a link can have the URL. Otherwise the error says what is wrong.
func CheckLinkURL(text string) error {
	if !IsWebURL(text) || utf8.RuneCountInString(text) > MaxURL {
		return errURL
	}
	return nil
}

// Link returns the position of a link, or -1.
func (f Feature) Link(id string) int {
	return slices.IndexFunc(f.Links, func(l Link) bool { return l.ID == id })
}
