package ascode

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v3"

	"toggleadmin/pkg/operator/apiclient"
	"toggleadmin/pkg/toggle"
)

// stored is a toggle of a project in the API.
type stored struct {
	Name           string              `json:"name"`
	Project        string              `json:"project"`
	Type           string              `json:"type"`
	Description    *string             `json:"description"`
	ImpressionData bool                `json:"impressionData"`
	Tags           []toggle.Tag        `json:"tags"`
	Owner          *toggle.Owner       `json:"owner"`
	KeepUntil      string              `json:"keepUntil"`
	KeepReason     string              `json:"keepReason"`
	ManagedBy      string              `json:"managedBy"`
	Dependencies   []toggle.Dependency `json:"dependencies"`
	Environments   []struct {
		toggle.Environment

		Name string `json:"name"`
	} `json:"environments"` // those of the project
}

// isOn reports whether the toggle is on in an environment.
func (f stored) isOn(environment string) bool {
	for _, e := range f.Environments {
		if e.Name == environment {
			return e.Enabled
		}
	}
	return false
}

// Export writes the resources that the token sees into files of a folder, one each, and returns their numbers. Archived
// toggles and projects are left out. Files of other resources stay.
func (c *Client) Export(ctx context.Context, dir string) (map[Kind]int, error) {
	all, err := c.all(ctx)
	if err != nil {
		return nil, err
	}
	order(all)
	numbers := map[Kind]int{}
	f := folder{dir, map[string]bool{}}
	// Toggles have the first choice of names, because their folders have the names of projects.
	for _, kind := range []Kind{KindToggle, KindType, KindField, KindProject, KindSegment} {
		for _, r := range Of(all, kind) {
			if err := f.write(r); err != nil {
				return nil, err
			}
			numbers[kind]++
		}
	}
	return numbers, nil
}

// all returns all resources that the token sees.
func (c *Client) all(ctx context.Context) ([]Resource, error) {
	types, _, err := c.types(ctx)
	if err != nil {
		return nil, err
	}
	fields, err := c.fields(ctx)
	if err != nil {
		return nil, err
	}
	segments, err := c.segments(ctx)
	if err != nil {
		return nil, err
	}
	all := fields
	for _, t := range types {
		all = append(all, t)
	}
	names := map[int64]string{}
	for i := range segments {
		names[segments[i].ID] = segments[i].Name
		all = append(all, &segments[i].Segment)
	}
	projects, err := c.projects(ctx)
	if err != nil {
		return nil, err
	}
	roles, err := c.roles(ctx)
	if err != nil {
		return nil, err
	}
	ofProjects, err := apiclient.Each(ctx, projects, func(ctx context.Context, id string) ([]Resource, error) {
		p, err := c.describedProject(ctx, id, roles)
		if err != nil {
			return nil, err
		}
		toggles, err := c.described(ctx, id, names)
		return append(toggles, p), err
	})
	for _, resources := range ofProjects {
		all = append(all, resources...)
	}
	return all, err
}

// describedProject returns a project as files contain it. roles has the ids of roles by their names.
func (c *Client) describedProject(ctx context.Context, id string, roles map[string]int64) (*Project, error) {
	p, _, err := c.project(ctx, id)
	if err != nil {
		return nil, err
	}
	protections, _, err := c.protections(ctx, id)
	if err != nil {
		return nil, err
	}
	p.Environments = map[string]Protection{}
	for name, protection := range protections {
		p.Environments[name] = protection.asFile()
	}
	groups, _, err := c.rolesOfGroups(ctx, id)
	p.Groups = groupsAsFile(groups, roles)
	return &p.Project, err
}

// described returns the toggles of a project as files contain them. segments has the names of segments by their ids.
func (c *Client) described(ctx context.Context, project string, segments map[int64]string) ([]Resource, error) {
	toggles, err := c.toggles(ctx, project)
	if err != nil {
		return nil, err
	}
	all := make([]Resource, len(toggles))
	for i, t := range toggles {
		all[i] = t.asFile(segments)
	}
	return all, nil
}

// asFile returns the toggle as files contain it.
func (f stored) asFile(segments map[int64]string) *Toggle {
	t := Toggle{
		Name: f.Name, Project: f.Project, Type: f.Type, Description: f.Description, ImpressionData: f.ImpressionData,
		KeepUntil: f.KeepUntil, KeepReason: f.KeepReason, Environments: map[string]Environment{},
	}
	for _, tag := range f.Tags {
		t.Tags = append(t.Tags, Tag(tag))
	}
	if f.Owner != nil {
		t.Owner = new(Owner(*f.Owner))
		switch t.Owner.Kind { //nolint:exhaustive // a text has only its name
		case toggle.OwnerUser:
			t.Owner.Name = "" // files have no personal data
		case toggle.OwnerGroup:
			t.Owner.ID = 0 // which is that of one installation
		}
	}
	for _, d := range f.Dependencies {
		t.Dependency = &Dependency{Feature: d.Feature, Variants: d.Variants}
		if !d.Enabled {
			t.Dependency.Enabled = &d.Enabled
		}
	}
	for _, e := range f.Environments {
		state := Environment{Enabled: e.Enabled}
		for _, s := range e.Strategies {
			state.Strategies = append(state.Strategies, strategyAsFile(s, segments))
		}
		t.Environments[e.Name] = state
	}
	return &t
}

// strategyAsFile returns a strategy as files contain it.
func strategyAsFile(s toggle.Strategy, segments map[int64]string) Strategy {
	one := Strategy{Name: s.Name, Title: s.Title, Disabled: s.Disabled, Parameters: s.Parameters}
	for _, c := range s.Constraints {
		one.Constraints = append(one.Constraints, Constraint(c))
	}
	for _, id := range s.Segments {
		one.Segments = append(one.Segments, segments[id])
	}
	for _, v := range s.Variants {
		variant := Variant{Name: v.Name, Payload: (*Payload)(v.Payload)}
		if v.WeightType != toggle.WeightVariable { // whose weights are computed
			variant.Weight, variant.WeightType = v.Weight, string(v.WeightType)
		}
		one.Variants = append(one.Variants, variant)
	}
	return one
}

// folder is a folder that an export writes.
type folder struct {
	dir     string
	written map[string]bool // the files, in lower case: file systems can ignore letter case
}

// write writes a resource into a file of its own.
func (f folder) write(r Resource) error {
	var text bytes.Buffer
	encoder := yaml.NewEncoder(&text)
	encoder.SetIndent(2)
	if err := errors.Join(encoder.Encode(r), encoder.Close()); err != nil {
		return err
	}
	file := f.file(r.Ref())
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil { //nolint:gosec // the files contain no secrets
		return err
	}
	return os.WriteFile(file, text.Bytes(), 0o644) //nolint:gosec // the files contain no secrets
}

// file returns the file of a resource: PROJECT/NAME.yaml for toggles, KINDS/NAME.yaml for others. Another one with the same
// file gets a number.
func (f folder) file(of Ref) string {
	sub := string(of.Kind) + "s"
	if of.Kind == KindToggle {
		sub = of.Project
	}
	base := filepath.Join(f.dir, sub, fileName(of.Name))
	file := base + ".yaml"
	for n := 2; f.written[strings.ToLower(file)]; n++ {
		file = fmt.Sprintf("%s-%d.yaml", base, n)
	}
	f.written[strings.ToLower(file)] = true
	return file
}

// fileName returns a name without what a file system may not accept.
func fileName(name string) string {
	name = strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("._~-", r) {
			return r
		}
		return '-'
	}, name)
	if strings.Trim(name, ".") == "" {
		return "_" + name
	}
	return name
}
