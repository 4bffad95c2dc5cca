package transfer

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
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
	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/operator/exitstatus"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/datetime"
	"toggleadmin/pkg/platform/dynamo"
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
		d.Environments = append(d.Environments, fromEnvironment(e))
	}
	projects, err := i.Projects.List(ctx)
	if err != nil {
		return Document{}, nil, err
	}
	for _, p := range projects {
		d.Projects = append(d.Projects, fromProject(p))
	}
	segments, err := i.Segments.List(ctx)
	if err != nil {
		return Document{}, nil, err
	}
	for _, s := range segments {
		d.Segments = append(d.Segments, fromSegment(s))
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

// writeTimeout is the time within which a write must succeed. Failed calls of DynamoDB are repeated until then.
const writeTimeout = time.Minute

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
			return prepareEnvironment(e, old, names)
		},
		create: i.createEnvironment, read: i.readEnvironment,
		update: func(ctx context.Context, e Environment) error {
			_, err := i.Environments.Update(ctx, e.Name, func(stored *environment.Environment) error {
				stored.Type, stored.SortOrder = e.Type, e.SortOrder
				return nil
			})
			return err
		},
	}
	knownEnvironments, err := environments.run(ctx, o, "environments", stored.Environments, d.Environments,
		&r.Environments)
	if err != nil {
		return r, err
	}
	known := resources{
		types: knownTypes, fields: map[string]contextfield.ContextField{}, environments: knownEnvironments,
		listed: d.Environments, unlisted: d.Unlisted, now: datetime.Format(i.Now()), newID: i.NewStrategy,
	}
	for name, f := range knownFields {
		known.fields[name] = f.stored()
	}
	rights, err := i.importRights(ctx, d, o, stored, knownEnvironments, &r)
	if err != nil {
		return r, err
	}
	if known.projects, err = rights.importProjects(ctx, knownEnvironments, &r.Projects); err != nil {
		return r, err
	}
	if known.segments, err = i.importSegments(ctx, d, o, stored.Segments, known, &r.Segments); err != nil {
		return r, err
	}
	if r.ChangedHere, err = i.importToggles(ctx, d, o, features, stored.Features, known, &r.Features); err != nil {
		return r, err
	}
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

// createAccount creates an account. Another import can add the same person at the same time, whom nothing identifies but
// the name: the kind of the error is NameExists then.
func (n *rights) createAccount(ctx context.Context, a Account) error {
	role, fixed := access.ParseRole(a.Role)
	if !fixed {
		roles, err := n.roleIDs(ctx)
		if err != nil {
			return err
		}
		role = roles[a.Role] // prepareAccount has checked it
	}
	if a.Username != nil || a.Email != nil || a.Identity != nil {
		_, err := n.Users.Add(ctx, a.created(role), n.AccountLimit)
		return err
	}
	isSame := func(u user.User) bool { return fromAccount(u, nil).id() == a.id() }
	_, err := n.Users.AddUnless(ctx, a.created(role), n.AccountLimit, isSame)
	return err
}

// readAccount returns the account with an id in documents, which could not be added because a name or an identity is
// taken. If another account has it, the kind of the error is Conflict.
func (n *rights) readAccount(ctx context.Context, id string) (Account, error) {
	all, err := n.Users.List(ctx)
	if err != nil {
		return Account{}, err
	}
	roles, err := n.Roles.List(ctx)
	if err != nil {
		return Account{}, err
	}
	names := map[access.Role]string{}
	for _, r := range roles {
		names[r.ID] = r.Name
	}
	for _, u := range all {
		if a := fromAccount(u, names); a.id() == id {
			return a, nil
		}
	}
	return Account{}, apierror.New(apierror.Conflict, "Another account has the name, the e-mail address or the identity.")
}

// merge writes the elements of a document.
type merge[T any] struct {
	id func(T) string
	// prepare returns an element as it will be stored, with remarks, or why it is skipped. old is the stored element, or
	// nil.
	prepare        func(element T, old *T) (T, remarks, error)
	create, update func(context.Context, T) error
	// read returns the stored element with an id. The kind of its error is Conflict if there is none, but another element
	// has what must be unique.
	read func(ctx context.Context, id string) (T, error)
}

// run writes what differs and fills the section. It returns the elements by their ids that are stored then.
func (m merge[T]) run(
	ctx context.Context, o Options, what string, stored, elements []T, s *Section,
) (map[string]T, error) {
	old, known := map[string]*T{}, map[string]T{}
	for _, element := range stored {
		id := m.id(element)
		old[id], known[id] = &element, element
	}
	written := map[string]bool{}
	for n, element := range elements {
		o.Progress(what, n, len(elements))
		id := m.id(element)
		if written[id] {
			s.Skipped = append(s.Skipped, Remark{id, occursTwice})
			continue
		}
		next, skipped, err := m.write(ctx, o, id, element, old[id], s)
		if err != nil {
			return known, fmt.Errorf("import %s: %q: %w", what, id, err)
		}
		if skipped == nil {
			known[id], written[id] = next, true
			continue
		}
		if errors.Is(skipped, errChangedHere) {
			written[id] = true
			s.Unchanged++
			continue
		}
		s.Skipped = append(s.Skipped, Remark{id, skipped.Error()})
	}
	o.Progress(what, len(elements), len(elements))
	return known, nil
}

// write creates or updates one element if it differs from the stored one. It returns the element as it is stored, or why
// it is skipped. If another process has created the element since the installation was read, write compares it with that
// one. If another process has deleted it, write creates it.
func (m merge[T]) write(
	ctx context.Context, o Options, id string, element T, old *T, s *Section,
) (next T, skipped, err error) {
	ctx, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	next, about, skipped := m.prepare(element, old)
	if skipped != nil {
		return next, skipped, nil
	}
	write, properties := m.create, []string(nil)
	if old != nil {
		write = m.update
		if properties, err = differing(*old, next); err != nil {
			return next, nil, err
		}
	}
	unchanged := old != nil && len(properties) == 0
	if !unchanged && !o.DryRun {
		err = write(ctx, next)
	}
	if old != nil && apierror.KindOf(err) == apierror.NotFound { // it was deleted since
		return m.write(ctx, o, id, element, nil, s)
	}
	if old == nil && apierror.KindOf(err) == apierror.NameExists {
		created, reading := m.read(ctx, id)
		switch {
		case reading == nil:
			return m.write(ctx, o, id, element, &created, s)
		case apierror.KindOf(reading) == apierror.NotFound: // it was deleted again
			return m.write(ctx, o, id, element, nil, s)
		case apierror.KindOf(reading) != apierror.Conflict:
			return next, nil, reading
		}
	}
	switch {
	case errors.Is(err, errChangedHere):
		return next, errChangedHere, nil
	case isRejected(err):
		return next, exitstatus.Explain(err), nil
	case dynamo.Invalid(err):
		return next, err, nil
	case err != nil:
		return next, nil, err
	case unchanged:
		s.Unchanged++
	case old == nil:
		s.Created = append(s.Created, id)
	default:
		s.Updated = append(s.Updated, Update{id, properties})
	}
	s.add(id, about)
	return next, nil, nil
}

// isRejected reports whether an error is that of an element that cannot be written, even if the write is repeated.
func isRejected(err error) bool {
	switch apierror.KindOf(err) {
	case apierror.NoAccess, apierror.ContentTooLarge, apierror.NameExists, apierror.Conflict, apierror.Validation:
		return true
	default:
		return false
	}
}

// differing returns the names of the JSON properties in which two values differ, sorted.
func differing(a, b any) (names []string, err error) {
	properties := [2]map[string]json.RawMessage{}
	for i, v := range []any{a, b} {
		text, err := json.Marshal(v)
		if err != nil {
			return nil, err
		}
		if err := json.Unmarshal(text, &properties[i]); err != nil {
			return nil, err
		}
	}
	all := maps.Clone(properties[0])
	maps.Copy(all, properties[1]) // either can leave a property out
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if string(properties[0][name]) != string(properties[1][name]) {
			names = append(names, name)
		}
	}
	return names, nil
}
