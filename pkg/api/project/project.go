// Package project manages the projects: which teams have which toggles, who sees and changes them (package access), and
// how toggles are named.
//
// The item of a project is in the table Access (package accesstable). A toggle, a segment and a client token of a project
// are created in a transaction with the condition that the project exists and is not archived or being archived
// (accesstable.Condition).
package project

import (
	"fmt"
	"regexp"
	"slices"
	"time"

	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/datetime"
	"toggleadmin/pkg/platform/lambdahttp"
)

// Limit is the maximum number of projects, with archived ones.
const Limit = 500

// CheckFeatureName returns nil if a toggle of the project can have the name that was sent. The kind of its error is
// Validation.
func CheckFeatureName(p *access.Project, name string) error {
	must, err := mustMatch(p, name)
	if err != nil || must == "" {
		return err
	}
	return apierror.Invalid(apierror.At("/body/name", "%s; you sent %q", must, apierror.Echo(name)))
}

// CheckMove returns nil if a toggle with the name can be moved to the project. The kind of its error is Validation.
func CheckMove(p *access.Project, name string) error {
	must, err := mustMatch(p, name)
	if err != nil || must == "" {
		return err
	}
	return apierror.Invalid(apierror.At("/body/newProjectId", "must be a project in which the toggle can have its name: %q %s",
		apierror.Echo(name), must))
}

// mustMatch returns the rule of the project for the names of its toggles, or "" if the name matches it.
func mustMatch(p *access.Project, name string) (string, error) {
	if p.Naming == nil {
		return "", nil
	}
	pattern, err := compile(p.Naming.Pattern)
	if err != nil { // it was checked when it was stored
		return "", err
	}
	if pattern.MatchString(name) {
		return "", nil
	}
	must := fmt.Sprintf("must match the pattern %q of the project %q", p.Naming.Pattern, p.ID)
	if p.Naming.Example != "" {
		must += fmt.Sprintf(", such as %q", p.Naming.Example)
	}
	if p.Naming.Description != "" {
		must += " (" + p.Naming.Description + ")"
	}
	return must, nil
}

// compile returns the regular expression that a whole name must match.
func compile(pattern string) (*regexp.Regexp, error) { return regexp.Compile(`^(?:` + pattern + `)$`) }

// etag returns the entity tag of a project. It changes with everything that update-project and update-project-settings
// can change.
func etag(p *access.Project) string {
	data := newEventData(p)
	data.Environments = nil // configTag is their tag
	return lambdahttp.ETag(data)
}

// eventData is a project in the data of events, without who has access to it.
type eventData struct {
	ID                string         `json:"id"`
	Name              string         `json:"name"`
	Description       *string        `json:"description"`
	Mode              access.Mode    `json:"mode"`
	DefaultStickiness string         `json:"defaultStickiness"`
	Environments      []string       `json:"environments"` // null: all
	Naming            *naming        `json:"featureNaming"`
	LinkTemplates     []linkTemplate `json:"linkTemplates"`
}

// naming is createFeatureNamingPatternSchema in api/openapi.yaml.
type naming struct {
	Pattern     string  `json:"pattern"`
	Example     *string `json:"example"`
	Description *string `json:"description"`
}

// linkTemplate is projectLinkTemplateSchema in api/openapi.yaml.
type linkTemplate struct {
	Title       *string `json:"title"`
	URLTemplate string  `json:"urlTemplate"`
}

func newEventData(p *access.Project) eventData {
	data := eventData{
		ID:                p.ID,
		Name:              p.Name,
		Description:       p.Description,
		Mode:              p.Mode,
		DefaultStickiness: p.DefaultStickiness,
		Environments:      slices.Clone(p.Environments),
		LinkTemplates:     make([]linkTemplate, len(p.LinkTemplates)),
	}
	if p.Naming != nil {
		data.Naming = &naming{
			p.Naming.Pattern, lambdahttp.Optional(p.Naming.Example), lambdahttp.Optional(p.Naming.Description),
		}
	}
	for i, link := range p.LinkTemplates {
		data.LinkTemplates[i] = linkTemplate(link)
	}
	return data
}

// Change returns the event of a change of a project.
func Change(t eventlog.Type, p *access.Project, data, preData any) eventlog.Change {
	return eventlog.Change{Type: t, Subject: Subject(p.ID), Last: p.LastEvent, Project: p.ID, Data: data, PreData: preData}
}

// Subject returns the subject of the events about a project.
func Subject(id string) eventlog.Subject { return eventlog.Subject("project:" + id) }

// response is projectSchema in api/openapi.yaml.
type response struct {
	ID                string      `json:"id"`
	Name              string      `json:"name"`
	Description       string      `json:"description,omitempty"` // a null would be an error of Unleash's Terraform provider
	Mode              access.Mode `json:"mode"`
	DefaultStickiness string      `json:"defaultStickiness"`

	Favorite bool `json:"favorite"` // of the caller

	*contentsResponse // nil with a filter by users, groups or roles

	CreatedAt  *string `json:"createdAt"`
	UpdatedAt  *string `json:"updatedAt"`
	ArchivedAt *string `json:"archivedAt"`

	Access *grantsResponse `json:"access,omitempty"` // only with a filter by users, groups or roles
}

// contentsResponse is what a project has.
type contentsResponse struct {
	FeatureCount     int     `json:"featureCount"`
	StaleCount       int     `json:"staleFeatureCount"`
	PotentiallyStale int     `json:"potentiallyStaleFeatureCount"`
	MemberCount      int     `json:"memberCount"`
	Owners           []owner `json:"owners"`
}

// owner is an element of owners in projectSchema.
type owner struct {
	Type  string `json:"ownerType"` // user, group or system
	Name  string `json:"name,omitempty"`
	Email string `json:"email,omitempty"`
}

func formatted(at *time.Time) *string { return datetime.FormatOptional(at) }
