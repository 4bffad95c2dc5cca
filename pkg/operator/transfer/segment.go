package transfer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"toggleadmin/pkg/api/contextfield"
	"toggleadmin/pkg/api/segment"
	"toggleadmin/pkg/api/segmenttable"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/datetime"
	"toggleadmin/pkg/toggle"
)

// Segment is a segment.
type Segment struct {
	// ID is the one by which the strategies of the document name the segment. Another installation has another one.
	ID int64 `json:"id"`

	Name        string              `json:"name"`
	Description *string             `json:"description"`
	Project     *string             `json:"project"`
	CreatedAt   *string             `json:"createdAt"`           // RFC 3339; nil: unknown
	CreatedBy   *string             `json:"createdBy,omitempty"` // a name in another system; nil: unknown
	Constraints []toggle.Constraint `json:"constraints"`         // nil: unknown
}

func fromSegment(s segment.Segment) Segment {
	form := Segment{
		ID: s.ID, Name: s.Name, Description: s.Description, Project: s.Project,
		CreatedAt: new(datetime.Format(s.CreatedAt)), Constraints: append([]toggle.Constraint{}, s.Constraints...),
	}
	if s.CreatedBy != nil && s.CreatedBy.ID == 0 {
		form.CreatedBy = &s.CreatedBy.Name
	}
	return form
}

// segments prepares the segments of a document.
type segments struct {
	fields map[string]contextfield.ContextField

	projects map[string]Project

	names  map[string]bool // of the segments that exist after the import
	lastID int64           // of those that would be created
	now    string          // the time of creation of a segment that has none
}

// prepare returns a segment as it will be stored, with its id here. In a dry run, one that would be created has an id
// that no segment has.
func (p *segments) prepare(s Segment, old *Segment) (Segment, remarks, error) {
	var about remarks
	if n := utf8.RuneCountInString(s.Name); n < 1 || n > toggle.MaxName || strings.TrimSpace(s.Name) != s.Name ||
		!toggle.IsReadable(s.Name) {
		return s, about, fmt.Errorf("its name is not valid: use 1 to %d characters, without white space around them",
			toggle.MaxName)
	}
	if s.Project != nil && toggle.CheckName(*s.Project) != nil {
		return s, about, fmt.Errorf("its project %.50q is not valid: %w", *s.Project, toggle.CheckName(*s.Project))
	}
	if s.Project != nil {
		if err := checkProject(*s.Project, p.projects); err != nil {
			return s, about, err
		}
	}
	var err error
	if s.CreatedAt, err = normalTime(s.CreatedAt); err != nil {
		return s, about, err
	}
	about.cutOptional(&s.Description, "its description", toggle.MaxDescription)
	about.cutOptional(&s.CreatedBy, "the name of its creator", toggle.MaxText)
	if old != nil {
		s.ID, s.CreatedAt, s.CreatedBy = old.ID, old.CreatedAt, old.CreatedBy // cannot be changed
		if s.Constraints == nil {
			s.Constraints = old.Constraints
		}
	} else if err := p.add(&s); err != nil {
		return s, about, err
	}
	if s.Constraints, err = prepareConstraints(s.Constraints, p.fields); err != nil {
		return s, about, err
	}
	p.names[s.Name] = true
	return s, about, nil
}

// add prepares a segment that does not exist here.
func (p *segments) add(s *Segment) error {
	if s.Constraints == nil {
		return errors.New("the file does not have its constraints")
	}
	for name := range p.names {
		if name != s.Name && strings.EqualFold(name, s.Name) {
			return fmt.Errorf("the name of the segment %q differs in letter case only", name)
		}
	}
	if !p.names[s.Name] && len(p.names) >= segment.Limit {
		return fmt.Errorf("the maximum number of segments is %d", segment.Limit)
	}
	p.lastID++
	s.ID, s.CreatedAt = p.lastID, cmp.Or(s.CreatedAt, &p.now)
	return nil
}

// importSegments imports the segments of a document. It returns those that exist afterwards by the ids that the document
// has for them.
func (i Installation) importSegments(
	ctx context.Context, d Document, o Options, stored []Segment, known resources, section *Section,
) (map[int64]Segment, error) {
	p := segments{fields: known.fields, projects: known.projects, names: map[string]bool{}, now: known.now}
	for _, s := range stored {
		p.names[s.Name] = true
		p.lastID = max(p.lastID, s.ID)
	}
	merge := merge[Segment]{
		id: func(s Segment) string { return s.Name }, prepare: p.prepare,
		create: i.createSegment, read: i.readSegment, update: i.updateSegment,
	}
	all, err := merge.run(ctx, o, "segments", stored, d.Segments, section)
	if err != nil {
		return nil, err
	}
	if !o.DryRun {
		current, err := i.Segments.List(ctx) // with the ids of those that were created
		if err != nil {
			return nil, err
		}
		for _, s := range current {
			all[s.Name] = fromSegment(s)
		}
	}
	byID := map[int64]Segment{}
	for _, s := range d.Segments {
		if here, ok := all[s.Name]; ok {
			byID[s.ID] = here
		}
	}
	return byID, nil
}

func (i Installation) createSegment(ctx context.Context, s Segment) error {
	created := segment.Segment{Segment: segmenttable.Segment{
		Segment:     toggle.Segment{Name: s.Name, Constraints: s.Constraints},
		Description: s.Description, Project: s.Project, CreatedAt: *parsed(s.CreatedAt),
	}}
	if s.CreatedBy != nil {
		created.CreatedBy = &toggle.Creator{Name: *s.CreatedBy}
	}
	_, err := i.Segments.ForImport().Create(ctx, created)
	return err
}

func (i Installation) updateSegment(ctx context.Context, s Segment) error {
	return i.Segments.ForImport().Update(ctx, s.ID, func(stored *segment.Segment) error {
		stored.Description, stored.Project, stored.Constraints = s.Description, s.Project, s.Constraints
		return nil
	})
}

// readSegment returns the segment with a name, which another process has created. The kind of the error is Conflict if
// its name differs in letter case.
func (i Installation) readSegment(ctx context.Context, name string) (Segment, error) {
	all, err := i.Segments.List(ctx)
	if err != nil {
		return Segment{}, err
	}
	err = apierror.Errorf(apierror.NotFound, "There is no segment with the name %q.", apierror.Echo(name))
	for _, s := range all {
		if s.Name == name {
			return fromSegment(s), nil
		}
		if strings.EqualFold(s.Name, name) {
			err = apierror.New(apierror.Conflict, "The name of another segment differs in letter case only.")
		}
	}
	return Segment{}, err
}
