package transfer

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"toggleadmin/pkg/api/project"
	"toggleadmin/pkg/operator/exitstatus"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/datetime"
	"toggleadmin/pkg/toggle"
)

// Project is a project.
type Project struct {
	ID                string       `json:"id"`
	Name              string       `json:"name"`
	Description       *string      `json:"description"`
	Mode              access.Mode  `json:"mode"`
	DefaultStickiness string       `json:"defaultStickiness"`
	Environments      []string     `json:"environments"` // null: all
	FeatureNaming     *Naming      `json:"featureNaming"`
	LinkTemplates     []Link       `json:"linkTemplates"`
	Protections       []Protection `json:"protections"`
	CreatedAt         *string      `json:"createdAt"`  // RFC 3339; nil: unknown
	ArchivedAt        *string      `json:"archivedAt"` // nil: it is not archived
	Access            []Grant      `json:"access"`     // who has which roles in it

	// Partial reports that the environments, the naming and the links are not known. An import leaves them as they are.
	Partial bool `json:"-"`
}

// Naming is how the toggles of a project are named.
type Naming struct {
	Pattern     string `json:"pattern"`
	Example     string `json:"example,omitempty"`
	Description string `json:"description,omitempty"`
}

// Link is a link that each new toggle of a project has.
type Link struct {
	Title       *string `json:"title"`
	URLTemplate string  `json:"urlTemplate"`
}

func fromProject(p *access.Project) Project {
	shown := Project{
		ID: p.ID, Name: p.Name, Description: p.Description, Mode: p.Mode, DefaultStickiness: p.DefaultStickiness,
		Environments: p.Environments, FeatureNaming: (*Naming)(p.Naming), LinkTemplates: []Link{},
		CreatedAt: datetime.FormatOptional(p.CreatedAt), ArchivedAt: datetime.FormatOptional(p.ArchivedAt),
	}
	for _, link := range p.LinkTemplates {
		shown.LinkTemplates = append(shown.LinkTemplates, Link(link))
	}
	return shown
}

// assign sets what an import sets when it creates or updates a project. The mode and the archiving are separate changes.
func (p Project) assign(stored *access.Project) {
	stored.Name, stored.Description, stored.DefaultStickiness = p.Name, p.Description, p.DefaultStickiness
	stored.Naming, stored.LinkTemplates = (*access.Naming)(p.FeatureNaming), nil
	for _, link := range p.LinkTemplates {
		stored.LinkTemplates = append(stored.LinkTemplates, access.LinkTemplate(link))
	}
}

// created returns the project as it is created: open, and not archived.
func (p Project) created() access.Project {
	stored := access.NewProject(p.ID, p.Name)
	p.assign(&stored)
	stored.Environments, stored.CreatedAt = p.Environments, parsed(p.CreatedAt)
	return stored
}

// checkProject returns why something of a project cannot be imported, or nil.
func checkProject(id string, known map[string]Project) error {
	if _, exists := known[id]; !exists {
		return fmt.Errorf("the project %.100q does not exist here: create it, or use --create-projects", id)
	}
	return nil
}

// unlistedProjects returns the projects that toggles of the document name, and that neither it nor the installation has.
func (d Document) unlistedProjects(stored []Project) []Project {
	known := map[string]bool{}
	for _, p := range slices.Concat(d.Projects, stored) {
		known[p.ID] = true
	}
	var all []Project
	for _, t := range d.Features {
		if !known[t.Project] && toggle.CheckName(t.Project) == nil {
			known[t.Project] = true
			all = append(all, fromProject(new(access.NewProject(t.Project, t.Project))))
		}
	}
	return all
}

// requireProject returns an error if a document, which has only a project and its toggles, has nothing of the project, or
// if the project would not exist after the import. id is empty for all projects.
func (d Document) requireProject(id string, stored []Project) error {
	isIt := func(p Project) bool { return p.ID == id }
	switch {
	case id == "" || slices.ContainsFunc(d.Projects, isIt):
		return nil
	case len(d.Features) == 0:
		return exitstatus.Errorf(exitstatus.NotFound, "there is no project %q in what is imported", id)
	case !slices.ContainsFunc(stored, isIt):
		return exitstatus.Errorf(exitstatus.NotFound,
			"there is no project %q: create it with `toggleadmin projects create`, or use --create-projects", id)
	}
	return nil
}

// strictness orders the modes: from one to a later one, fewer accounts may do something.
func strictness(m access.Mode) int {
	return slices.Index([]access.Mode{access.Open, access.Protected, access.Private}, m)
}

// projects prepares the projects of a document.
type projects struct {
	environments map[string]Environment
	howToCreate  func(environment string) string
	now          time.Time // of creation of a project that has no time
}

// prepare returns a project as it will be stored. An import makes a project stricter, and never more open, and does not
// revive it.
func (i projects) prepare(p Project, old *Project) (Project, remarks, error) {
	var about remarks
	var err error
	if p.CreatedAt, err = normalTime(p.CreatedAt); err != nil {
		return p, about, err
	}
	if p.ArchivedAt, err = normalTime(p.ArchivedAt); err != nil {
		return p, about, err
	}
	about.cut(&p.Name, "its name", toggle.MaxName)
	about.cutOptional(&p.Description, "its description", toggle.MaxDescription)
	p.Access = nil // importAccess compares it
	if p.Partial && old != nil {
		p.Environments, p.FeatureNaming, p.LinkTemplates = old.Environments, old.FeatureNaming, old.LinkTemplates
	}
	i.fit(&p, &about)
	candidate := p.created()
	candidate.Mode = p.Mode
	if err := project.Check(&candidate); err != nil {
		return p, about, err
	}
	if p.Protections, err = i.protections(p, old, &about); err != nil {
		return p, about, err
	}
	if old == nil {
		p.CreatedAt = cmp.Or(p.CreatedAt, new(datetime.Format(i.now)))
		return p, about, nil
	}
	if !slices.Equal(p.Environments, old.Environments) || (p.Environments == nil) != (old.Environments == nil) {
		about.note("its environments stay as they are here")
		p.Environments = old.Environments
	}
	if strictness(p.Mode) < strictness(old.Mode) {
		about.note("its mode stays %s, and does not become %s", old.Mode, p.Mode)
		p.Mode = old.Mode
	}
	if old.ArchivedAt != nil {
		p.ArchivedAt = old.ArchivedAt
	}
	p.CreatedAt = old.CreatedAt // cannot be changed
	return p, about, nil
}

// fit leaves out what a project cannot have here: environments that do not exist, a pattern of names that is no regular
// expression of this service, and links that are no URLs.
func (i projects) fit(p *Project, about *remarks) {
	environments, links := p.Environments, p.LinkTemplates
	p.Environments, p.LinkTemplates = nil, []Link{}
	for _, name := range environments {
		if _, exists := i.environments[name]; exists {
			p.Environments = append(p.Environments, name)
		} else {
			about.note("its environment %.100q was left out: it does not exist here%s", name, i.howToCreate(name))
		}
	}
	if environments != nil && p.Environments == nil {
		p.Environments = []string{}
	}
	for _, link := range links {
		if err := project.CheckLink(access.LinkTemplate(link)); err == nil {
			p.LinkTemplates = append(p.LinkTemplates, link)
		} else {
			about.note("its link %.100q was left out: %v", link.URLTemplate, err)
		}
	}
	if err := project.CheckNaming((*access.Naming)(p.FeatureNaming)); err != nil {
		about.note("its pattern of names %.300q was left out: %v", p.FeatureNaming.Pattern, err)
		p.FeatureNaming = nil
	}
}

// importProjects imports the projects of a document and who has which roles in them. It returns those that exist
// afterwards.
func (n *rights) importProjects(
	ctx context.Context, environments map[string]Environment, s *Section,
) (map[string]Project, error) {
	i, d, o, stored := n.Installation, n.document, n.options, n.stored.Projects
	wanted := map[string]Project{}
	prepare := projects{environments, d.howToCreate, i.Now()}.prepare
	merge := merge[Project]{
		id: func(p Project) string { return p.ID },
		prepare: func(p Project, old *Project) (Project, remarks, error) {
			p, about, err := prepare(p, old)
			if err != nil {
				return p, about, err
			}
			wanted[p.ID] = p
			// The mode, the archiving and the access are changed later.
			p.Mode, p.ArchivedAt = access.Open, nil
			if old != nil {
				p.Mode, p.ArchivedAt, p.Access = old.Mode, old.ArchivedAt, old.Access
			}
			return p, about, nil
		},
		create: func(ctx context.Context, p Project) error {
			if _, err := i.Projects.Create(ctx, p.created()); err != nil {
				return err
			}
			return i.protect(ctx, p)
		},
		update: func(ctx context.Context, p Project) error {
			err := i.Projects.Update(ctx, p.ID, func(stored *access.Project) error {
				p.assign(stored)
				return nil
			})
			if err != nil {
				return err
			}
			return i.protect(ctx, p)
		},
		read: i.readProject,
	}
	known, err := merge.run(ctx, o, "projects", stored, d.Projects, s)
	if err != nil {
		return nil, err
	}
	if err := n.importAccess(ctx, known, s); err != nil {
		return nil, err
	}
	for _, p := range d.Projects {
		here, exists := known[p.ID]
		if next := wanted[p.ID]; exists && next.Mode != here.Mode {
			if err := n.setMode(ctx, next, s); err != nil {
				return nil, err
			}
		}
	}
	for id, p := range wanted {
		if _, exists := known[id]; exists {
			known[id] = p
		}
	}
	return known, nil
}

// noteNames notes which toggles were created with names that do not match the pattern of their project.
func (d Document) noteNames(known map[string]Project, created []string, s *Section) {
	isNew := map[string]bool{}
	for _, name := range created {
		isNew[name] = true
	}
	old := map[string][]string{} // by project
	for _, t := range d.Features {
		p := known[t.Project].created()
		if isNew[t.Name] && project.CheckFeatureName(&p, t.Name) != nil {
			old[t.Project] = append(old[t.Project], t.Name)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(old)) {
		s.add(id, remarks{notes: []string{fmt.Sprintf("%d of its new toggles do not match its pattern of names, which holds "+
			"for toggles that people create or move: %.200s", len(old[id]), strings.Join(old[id], ", "))}})
	}
}

// setMode makes a project stricter, if it has an Owner.
func (n *rights) setMode(ctx context.Context, p Project, s *Section) error {
	var err error
	switch {
	case !n.options.DryRun:
		err = n.Projects.Update(ctx, p.ID, func(stored *access.Project) error {
			if strictness(stored.Mode) < strictness(p.Mode) {
				stored.Mode = p.Mode
			}
			return nil
		})
	case !n.owned[p.ID]:
		err = apierror.New(apierror.Conflict, "The project has no Owner.")
	}
	if apierror.KindOf(err) == apierror.Conflict {
		s.add(p.ID, remarks{notes: []string{fmt.Sprintf("it is open and should be %s, which requires an Owner: give somebody "+
			"the role (`toggleadmin access grant`), then set the mode (`toggleadmin projects update`)", p.Mode)}})
		return nil
	}
	if err != nil {
		return fmt.Errorf("import projects: %q: %w", p.ID, err)
	}
	s.update(p.ID, "mode")
	return nil
}

// archiveProjects archives the projects that a document has as archived ones, after their toggles.
func (i Installation) archiveProjects(
	ctx context.Context, d Document, o Options, stored []Project, s *Section,
) error {
	for _, p := range d.Projects {
		isArchived := slices.ContainsFunc(stored, func(here Project) bool {
			return here.ID == p.ID && here.ArchivedAt != nil
		})
		if p.ArchivedAt == nil || isArchived || s.skips(p.ID) {
			continue
		}
		if !o.DryRun {
			at, err := datetime.Parse(*p.ArchivedAt) // projects.prepare has checked it
			if err == nil {
				err = i.Projects.ArchiveAt(ctx, p.ID, at, project.Always)
			}
			if isRejected(err) {
				s.add(p.ID, remarks{notes: []string{fmt.Sprintf("it was not archived: %v", exitstatus.Explain(err))}})
				continue
			}
			if err != nil {
				return fmt.Errorf("import projects: %q: %w", p.ID, err)
			}
		}
		s.update(p.ID, "archivedAt")
	}
	return nil
}

// readProject is merge.read of projects.
func (i Installation) readProject(ctx context.Context, id string) (Project, error) {
	all, err := i.Projects.List(ctx)
	if err != nil {
		return Project{}, err
	}
	found, err := named(all, id, func(p *access.Project) string { return p.ID })
	if err != nil {
		return Project{}, err
	}
	return fromProject(found), nil
}
