package project

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/toggle"
)

// The maximum numbers of characters and elements, as in the JSON Schemas.
const (
	maxName         = 100
	maxDescription  = 1000
	maxEnvironments = 50
	maxPattern      = 255
	maxLinks        = 20
	maxURL          = 1000
)

// Check returns nil if a project is valid in itself. Its error begins with what of the project is wrong.
func Check(p *access.Project) error {
	if err := toggle.CheckName(p.ID); err != nil {
		return fmt.Errorf("the id is not valid: %w", err)
	}
	switch {
	case isReserved(p.ID):
		return fmt.Errorf("the id must not be %q, which is a path of the API", p.ID)
	case tooLong(p.Name, maxName) || !toggle.IsReadable(p.Name):
		return fmt.Errorf("the name must have 1 to %d characters, of which one is visible", maxName)
	case p.Description != nil && tooLong(*p.Description, maxDescription):
		return fmt.Errorf("the description must have at most %d characters", maxDescription)
	case !slices.Contains([]access.Mode{access.Open, access.Protected, access.Private}, p.Mode):
		return fmt.Errorf("the mode must be %s, %s or %s", access.Open, access.Protected, access.Private)
	case p.DefaultStickiness == "" || tooLong(p.DefaultStickiness, maxName):
		return fmt.Errorf("the default stickiness must have 1 to %d characters", maxName)
	case len(p.Environments) > maxEnvironments:
		return fmt.Errorf("there must be at most %d environments", maxEnvironments)
	case len(p.LinkTemplates) > maxLinks:
		return fmt.Errorf("there must be at most %d links", maxLinks)
	}
	for _, link := range p.LinkTemplates {
		if err := CheckLink(link); err != nil {
			return err
		}
	}
	return CheckNaming(p.Naming)
}

// CheckLink returns nil if a link of a project is valid.
func CheckLink(link access.LinkTemplate) error {
	if !toggle.IsWebURL(link.URLTemplate) || tooLong(link.URLTemplate, maxURL) ||
		link.Title != nil && tooLong(*link.Title, maxName) {
		return fmt.Errorf("each link must be an http or https URL of at most %d characters, with a title of at most %d",
			maxURL, maxName)
	}
	return nil
}

// CheckNaming returns nil if the toggles of a project can be named so. A nil Naming is any name.
func CheckNaming(n *access.Naming) error {
	if n == nil {
		return nil
	}
	pattern, err := compile(n.Pattern)
	switch {
	case err != nil || n.Pattern == "" || tooLong(n.Pattern, maxPattern):
		return fmt.Errorf("the pattern of names must be a regular expression (RE2) of at most %d characters", maxPattern)
	case tooLong(n.Example, maxName) || n.Example != "" && !pattern.MatchString(n.Example):
		return errors.New("the example of a name must match the pattern")
	case tooLong(n.Description, maxDescription):
		return fmt.Errorf("the description of names must have at most %d characters", maxDescription)
	}
	return nil
}

func tooLong(text string, most int) bool { return utf8.RuneCountInString(text) > most }

// isReserved reports whether /api/admin/projects/ID begins the path of another operation.
func isReserved(id string) bool {
	return slices.Contains([]string{"archive", "revive", "validate"}, strings.ToLower(id))
}
