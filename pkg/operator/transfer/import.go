package transfer

import (
	"cmp"
	"context"
	"slices"
	"time"

	"toggleadmin/pkg/api/contextfield"
	"toggleadmin/pkg/api/environment"
	"toggleadmin/pkg/api/feature"
	"toggleadmin/pkg/api/featuretype"
	"toggleadmin/pkg/api/group"
	"toggleadmin/pkg/api/project"
	"toggleadmin/pkg/api/role"
	"toggleadmin/pkg/api/segment"
	"toggleadmin/pkg/api/tagtype"
	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/datetime"
	"toggleadmin/pkg/toggle"
)

// Installation is where documents come from and go to. The stores record the changes in their event log.
type Installation struct {
	Types        *featuretype.Store
	Fields       *contextfield.Store
	Environments *environment.Store
	Projects     *project.Store
	Roles        *role.Store
	Groups       *group.Store
	Segments     *segment.Store
	TagTypes     *tagtype.Store
	Features     *feature.Store
	FeatureLimit int64 // the maximum number of toggles; 0: no limit
	Users        *user.Store
	AccountLimit int64  // the maximum number of service accounts
	Issuer       string // the OpenID Connect issuer of people; empty: none
	Now          func() time.Time
	NewStrategy  func() string // returns the id of a new strategy
}

// Export reads the installation, by one Scan of each table.
func (i Installation) Export(ctx context.Context) (Document, error) {
	d, _, err := i.read(ctx)
	return d, err
}

// read is Export. It also returns the toggles by name.
func (i Installation) read(ctx context.Context) (Document, map[string]toggle.Feature, error) {
	features := map[string]toggle.Feature{}
	d := Document{
		Format: format, Version: version,
		FeatureTypes: []toggle.Type{}, ContextFields: []ContextField{}, Environments: []Environment{},
		Roles: []Role{}, Groups: []Group{}, Projects: []Project{}, Segments: []Segment{},
		Features: []toggle.FeatureJSON{}, Accounts: []Account{},
	}
	// The toggles first: what is created later cannot be missing from what they use.
	toggles, err := i.Features.List(ctx)
	if err != nil {
		return Document{}, nil, err
	}
	for _, f := range toggles {
		features[f.Name] = f
		d.Features = append(d.Features, f.JSON())
	}
	types, err := i.Types.List(ctx)
	if err != nil {
		return Document{}, nil, err
	}
	for _, t := range types {
		t.Position, t.LastEvent = 0, 0 // no part of a document
		d.FeatureTypes = append(d.FeatureTypes, t)
	}
	environments, err := i.Environments.List(ctx)
	if err != nil {
		return Document{}, nil, err
	}
	for _, e := range environments {
		d.Environments = append(d.Environments, fromEnvironment(e, i.Now()))
	}
	projects, err := i.Projects.List(ctx)
	if err != nil {
		return Document{}, nil, err
	}
	for _, p := range projects {
		shown := fromProject(p)
		shown.Protections = fromProtections(p, d.Environments, i.Now())
		d.Projects = append(d.Projects, shown)
	}
	segments, err := i.Segments.List(ctx)
	if err != nil {
		return Document{}, nil, err
	}
	for _, s := range segments {
		d.Segments = append(d.Segments, fromSegment(s))
	}
	tagTypes, err := i.TagTypes.List(ctx)
	if err != nil {
		return Document{}, nil, err
	}
	for _, t := range tagTypes {
		if t.LastEvent != 0 { // otherwise every installation has it
			d.TagTypes = append(d.TagTypes, fromTagType(t))
		}
	}
	fields, err := i.Fields.List(ctx) // after the segments, which use them
	if err != nil {
		return Document{}, nil, err
	}
	for _, f := range fields {
		d.ContextFields = append(d.ContextFields, fromField(f))
	}
	accounts, err := i.Users.List(ctx)
	if err != nil {
		return Document{}, nil, err
	}
	if err := i.readAccess(ctx, &d, projects, accounts); err != nil {
		return Document{}, nil, err
	}
	names := map[int64]string{}
	for _, u := range accounts {
		names[u.ID] = u.RecordedName()
	}
	for k, f := range toggles {
		d.Features[k].CreatedBy = creatorName(f.CreatedBy, names)
	}
	for k, s := range segments {
		d.Segments[k].CreatedBy = creatorName(s.CreatedBy, names)
	}
	return d, features, nil
}

// creatorName returns the name of a creator, or nil if there is none, or if the account does not exist.
func creatorName(by *toggle.Creator, names map[int64]string) *string {
	if by == nil {
		return nil
	}
	if name := cmp.Or(by.Name, names[by.ID]); name != "" {
		return &name
	}
	return nil
}

// Options change what Import does.
type Options struct {
	DryRun    bool   // write nothing
	Project   string // only its toggles, and the types and fields that they use; "": all
	Accounts  bool   // create accounts that are missing; otherwise they are ignored, and so are rights of an own document
	Admins    bool   // also accounts and groups of Unleash with the role Admin
	Overwrite bool   // also toggles that were changed here since the last import
	// CreateEnvironments creates environments that only toggles name.
	CreateEnvironments bool
	CreateProjects     bool                               // those that only toggles name
	Progress           func(what string, done, total int) // is called often
}

// Import makes the types, fields and toggles of the installation as the document has them: it creates those that are
// missing, updates those that differ, and deletes none. With Options.Accounts it creates accounts that are missing, and
// changes none. Each write is one transaction with its event, in the order of the document. An Import that ends early can
// be repeated. The report is valid even with an error.
func (i Installation) Import(ctx context.Context, d Document, o Options) (Report, error) {
	r := Report{
		DryRun: o.DryRun, FeatureTypes: newSection(), ContextFields: newSection(), Environments: newSection(),
		Roles: newSection(), Groups: newSection(), Projects: newSection(), Segments: newSection(),
		Features: newSection(), Accounts: newSection(),
		NotImported: append([]Other{}, d.Others...), ChangedHere: []string{},
	}
	if o.Project != "" {
		d = d.ofProject(o.Project)
	}
	stored, features, err := i.read(ctx)
	if err != nil {
		return r, err
	}
	for k, t := range stored.Features {
		stored.Features[k].Owner = features[t.Name].Owner // by its id, as prepareOwner returns it
	}
	if o.CreateProjects {
		d.Projects = append(slices.Clone(d.Projects), d.unlistedProjects(stored.Projects)...)
	}
	if err := d.requireProject(o.Project, stored.Projects); err != nil {
		return r, err
	}
	if !d.Kept && !o.Accounts {
		d = d.withoutRights()
	}
	wanted := fieldsWanted{}
	if d.Kept {
		d.moveLists()
		wanted = d.wantFields(stored.ContextFields)
	}
	r.OnlyHere = onlyHere(d, wanted.used, stored, o.Project)
	if o.CreateEnvironments {
		d.Environments = append(slices.Clone(d.Environments), d.unlisted(stored.Environments)...)
	}
	types := merge[toggle.Type]{
		id:      func(t toggle.Type) string { return toggle.NormalTypeID(t.ID) },
		prepare: prepareType, create: i.createType, read: i.Types.Get,
		update: func(ctx context.Context, t toggle.Type) error {
			_, err := i.Types.SetLifetime(ctx, t.ID, t.LifetimeDays)
			return err
		},
	}
	knownTypes, err := types.run(ctx, o, "feature types", stored.FeatureTypes, d.FeatureTypes, &r.FeatureTypes)
	if err != nil {
		return r, err
	}
	fields := merge[ContextField]{
		id: func(f ContextField) string { return f.Name },
		prepare: func(f ContextField, old *ContextField) (ContextField, remarks, error) {
			f, about, err := prepareField(f, old)
			about.add(wanted.about(f.Name, old))
			return f, about, err
		},
		create: func(ctx context.Context, f ContextField) error {
			_, err := i.Fields.Create(ctx, f.stored())
			return err
		},
		read: func(ctx context.Context, name string) (ContextField, error) {
			f, err := i.Fields.Get(ctx, name)
			return fromField(f), err
		},
		update: func(ctx context.Context, f ContextField) error {
			_, err := i.Fields.Replace(access.AsOperator(ctx), f.stored(), func(contextfield.ContextField) error { return nil })
			return err
		},
	}
	knownFields, err := fields.run(ctx, o, "context fields", stored.ContextFields, d.ContextFields, &r.ContextFields)
	if err != nil {
		return r, err
	}
	names := map[string]bool{} // of the environments that exist after the import
	for _, e := range stored.Environments {
		names[e.Name] = true
	}
	environments := merge[Environment]{
		id: func(e Environment) string { return e.Name },
		prepare: func(e Environment, old *Environment) (Environment, remarks, error) {
			return prepareEnvironment(e, old, names, i.Now())
		},
		create: i.createEnvironment, read: i.readEnvironment, update: i.updateEnvironment,
	}
	knownEnvironments, err := environments.run(ctx, o, "environments", stored.Environments, d.Environments,
		&r.Environments)
	if err != nil {
		return r, err
	}
	known := resources{
		types: knownTypes, fields: map[string]contextfield.ContextField{}, environments: knownEnvironments,
		listed: d.Environments, howToCreate: d.howToCreate, now: datetime.Format(i.Now()), newID: i.NewStrategy,
	}
	for name, f := range knownFields {
		known.fields[name] = f.stored()
	}
	rights, err := i.importRights(ctx, d, o, stored, knownEnvironments, &r)
	if err != nil {
		return r, err
	}
	if known.owners, err = rights.owners(ctx); err != nil {
		return r, err
	}
	if known.projects, err = rights.importProjects(ctx, knownEnvironments, &r.Projects); err != nil {
		return r, err
	}
	if known.segments, err = i.importSegments(ctx, d, o, stored.Segments, known, &r.Segments); err != nil {
		return r, err
	}
	if known.tagTypes, err = i.importTagTypes(ctx, d, o, stored.TagTypes, &r.TagTypes); err != nil {
		return r, err
	}
	if r.ChangedHere, err = i.importToggles(ctx, d, o, features, stored.Features, known, &r.Features); err != nil {
		return r, err
	}
	d.noteNames(known.projects, r.Features.Created, &r.Projects)
	return r, i.archiveProjects(ctx, d, o, stored.Projects, &r.Projects)
}

// compareBool compares two values, of which false is less.
func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	default:
		return 1
	}
}

// createType creates a type after all others.
func (i Installation) createType(ctx context.Context, t toggle.Type) error {
	all, err := i.Types.List(ctx)
	if err != nil {
		return err
	}
	if len(all) > 0 {
		t.Position = all[len(all)-1].Position + 1
	}
	return i.Types.Create(ctx, t)
}
