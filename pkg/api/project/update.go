package project

import (
	_ "embed"
	"fmt"
	"net/http"

	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/jsonbody"
	"toggleadmin/pkg/platform/lambdahttp"
	"toggleadmin/pkg/toggle"
)

//go:embed update.schema.json
var updateSchema []byte

//go:embed settings.schema.json
var settingsSchema []byte

// Update serves PUT /api/admin/projects/{projectId}.
func Update(projects *Store) lambdahttp.HandlerFunc {
	schema := jsonbody.MustCompile(updateSchema)
	return func(_ http.ResponseWriter, r *http.Request) error {
		id := r.PathValue("projectId")
		body, err := schema.Read(r, append(Rules(), jsonbody.AsInPath("id", id))...)
		if err != nil {
			return err
		}
		precondition, err := matching(r, etag)
		if err != nil {
			return err
		}
		return projects.Update(r.Context(), id, func(p *access.Project) error { // nil: 200 without a body
			if err := precondition(p); err != nil {
				return err
			}
			edit(p, body)
			return nil
		})
	}
}

// UpdateSettings serves PUT /api/admin/projects/{projectId}/settings.
func UpdateSettings(projects *Store) lambdahttp.HandlerFunc {
	schema := jsonbody.MustCompile(settingsSchema)
	return func(_ http.ResponseWriter, r *http.Request) error {
		body, err := schema.Read(r, validNaming, validLinks)
		if err != nil {
			return err
		}
		precondition, err := matching(r, etag)
		if err != nil {
			return err
		}
		return projects.Update(r.Context(), r.PathValue("projectId"), func(p *access.Project) error { // nil: 200 without a body
			if err := precondition(p); err != nil {
				return err
			}
			editSettings(p, body)
			return nil
		})
	}
}

// editSettings sets the mode, the pattern of names and the links that a body contains.
func editSettings(p *access.Project, body jsonbody.Object) {
	if mode, ok := body.TextOK("mode"); ok {
		p.Mode = access.Mode(mode)
	}
	if body.Has("featureNaming") {
		p.Naming = nil
		if sent := namingOf(body); sent.Pattern != "" {
			p.Naming = &sent
		}
	}
	if body.Has("linkTemplates") {
		p.LinkTemplates = nil
		for _, sent := range body.Objects("linkTemplates") {
			link := access.LinkTemplate{URLTemplate: sent.Text("urlTemplate")}
			if title, ok := sent.TextOK("title"); ok {
				link.Title = &title
			}
			p.LinkTemplates = append(p.LinkTemplates, link)
		}
	}
}

// namingOf returns the pattern of names in a body, with an empty Pattern for none.
func namingOf(body jsonbody.Object) access.Naming {
	sent, _ := body["featureNaming"].(map[string]any)
	naming := jsonbody.Object(sent)
	return access.Naming{
		Pattern:     naming.Text("pattern"),
		Example:     naming.Text("example"),
		Description: naming.Text("description"),
	}
}

// validNaming is the rule that a pattern is a regular expression that the example matches.
func validNaming(body jsonbody.Object) []apierror.Detail {
	const path = "/body/featureNaming"
	naming := namingOf(body)
	if naming.Pattern == "" {
		if naming.Example != "" || naming.Description != "" {
			return []apierror.Detail{apierror.At(path+"/pattern", "is required with an example or a description")}
		}
		return nil
	}
	pattern, err := compile(naming.Pattern)
	if err != nil {
		return []apierror.Detail{apierror.At(path+"/pattern", "must be a regular expression (RE2); you sent %q",
			apierror.Echo(naming.Pattern))}
	}
	if naming.Example != "" && !pattern.MatchString(naming.Example) {
		return []apierror.Detail{apierror.At(path+"/example", "must match the pattern; you sent %q",
			apierror.Echo(naming.Example))}
	}
	return nil
}

// validLinks is the rule that links are http or https URLs.
func validLinks(body jsonbody.Object) (details []apierror.Detail) {
	for i, link := range body.Objects("linkTemplates") {
		sent := link.Text("urlTemplate")
		if !toggle.IsWebURL(sent) {
			details = append(details, apierror.At(fmt.Sprintf("/body/linkTemplates/%d/urlTemplate", i),
				"must be an http or https URL; you sent %q", apierror.Echo(sent)))
		}
	}
	return details
}
