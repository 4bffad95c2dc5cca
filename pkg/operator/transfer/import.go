package transfer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"toggleadmin/pkg/api/contextfield"
	"toggleadmin/pkg/api/feature"
	"toggleadmin/pkg/api/featuretype"
	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/platform/datetime"
)

// Installation is where documents come from and go to. The stores record the changes in their event log.
type Installation struct {
	Types    *featuretype.Store
	Fields   *contextfield.Store
	Features *feature.Store
	Users    *user.Store
	Issuer   string // the OpenID Connect issuer of people; empty: none
	Now      func() time.Time
}

// Export reads the installation, by one Scan of each table.
func (i Installation) Export(ctx context.Context) (Document, error) {
	d := Document{
		Format: format, Version: version,
		FeatureTypes: []FeatureType{}, ContextFields: []ContextField{}, Features: []Toggle{}, Accounts: []Account{},
	}
	types, err := i.Types.List(ctx)
	if err != nil {
		return Document{}, err
	}
	for _, t := range types {
		d.FeatureTypes = append(d.FeatureTypes, fromType(t))
	}
	fields, err := i.Fields.List(ctx)
	if err != nil {
		return Document{}, err
	}
	for _, f := range fields {
		d.ContextFields = append(d.ContextFields, fromField(f))
	}
	toggles, err := i.Features.List(ctx)
	if err != nil {
		return Document{}, err
	}
	for _, f := range toggles {
		d.Features = append(d.Features, fromToggle(f))
	}
	accounts, err := i.Users.List(ctx)
	if err != nil {
		return Document{}, err
	}
	for _, u := range accounts {
		d.Accounts = append(d.Accounts, fromAccount(u))
	}
	return d, nil
}

// Options change what Import does.
type Options struct {
	DryRun   bool                               // write nothing
	Project  string                             // only its toggles, and the types and fields that they use; "": all
	Accounts bool                               // create accounts that are missing; otherwise they are ignored
	Progress func(what string, done, total int) // is called often
}

// writeTimeout is the time within which a write must succeed. Failed calls of DynamoDB are repeated until then.
const writeTimeout = time.Minute

// Import makes the types, fields and toggles of the installation as the document has them: it creates those that are
// missing, updates those that differ, and deletes none. With Options.Accounts it creates accounts that are missing, and
// changes none. Each write is one transaction with its event, in the order of the document. An Import that ends early can
// be repeated. The report is valid even with an error.
func (i Installation) Import(ctx context.Context, d Document, o Options) (Report, error) {
	r := Report{
		DryRun: o.DryRun, FeatureTypes: newSection(), ContextFields: newSection(), Features: newSection(),
		Accounts: newSection(),
	}
	if o.Project != "" {
		d = d.ofProject(o.Project)
	}
	stored, err := i.Export(ctx)
	if err != nil {
		return r, err
	}
	types := merge[FeatureType]{
		id:      func(t FeatureType) string { return featuretype.NormalID(t.ID) },
		prepare: prepareType, create: i.createType,
		update: func(ctx context.Context, t FeatureType) error {
			_, err := i.Types.SetLifetime(ctx, t.ID, t.LifetimeDays)
			return err
		},
	}
	knownTypes, err := types.run(ctx, o, "feature types", stored.FeatureTypes, d.FeatureTypes, &r.FeatureTypes)
	if err != nil {
		return r, err
	}
	fields := merge[ContextField]{
		id: func(f ContextField) string { return f.Name }, prepare: prepareField,
		create: func(ctx context.Context, f ContextField) error {
			_, err := i.Fields.Create(ctx, f.stored())
			return err
		},
		update: func(ctx context.Context, f ContextField) error {
			_, err := i.Fields.Replace(ctx, f.stored(), func(string) error { return nil })
			return err
		},
	}
	knownFields, err := fields.run(ctx, o, "context fields", stored.ContextFields, d.ContextFields, &r.ContextFields)
	if err != nil {
		return r, err
	}
	now := datetime.Format(i.Now())
	names := map[string]bool{} // of the toggles that exist after the import
	for _, t := range stored.Features {
		names[t.Name] = true
	}
	toggles := merge[Toggle]{
		id: func(t Toggle) string { return t.Name },
		prepare: func(t Toggle, old *Toggle) (Toggle, []string, error) {
			if d.Partial && old != nil {
				t.ContextFields = slices.Concat(t.ContextFields, old.ContextFields)
			}
			t, notes, err := prepareToggle(t, old, now, knownTypes, knownFields)
			if limit := int(i.Features.Limit()); err == nil && !names[t.Name] && limit > 0 && len(names) >= limit {
				err = fmt.Errorf("the maximum number of toggles (MaxFeatures = %d), including archived ones, is reached", limit)
			}
			if err == nil {
				names[t.Name] = true
			}
			return t, notes, err
		},
		create: func(ctx context.Context, t Toggle) error { return i.Features.Create(ctx, t.created()) },
		update: func(ctx context.Context, t Toggle) error {
			_, err := i.Features.Update(ctx, t.Name, t.assign)
			return err
		},
	}
	if _, err := toggles.run(ctx, o, "toggles", stored.Features, d.Features, &r.Features); err != nil {
		return r, err
	}
	if !o.Accounts {
		return r, nil
	}
	accounts := merge[Account]{
		id:      Account.id,
		prepare: func(a Account, old *Account) (Account, []string, error) { return prepareAccount(a, old, i.Issuer) },
		create: func(ctx context.Context, a Account) error {
			_, err := i.Users.Add(ctx, a.created())
			return err
		},
	}
	_, err = accounts.run(ctx, o, "accounts", stored.Accounts, d.Accounts, &r.Accounts)
	return r, err
}

// createType creates a type after all others.
func (i Installation) createType(ctx context.Context, t FeatureType) error {
	all, err := i.Types.List(ctx)
	if err != nil {
		return err
	}
	created := featuretype.FeatureType{ID: t.ID, Name: t.Name, Description: t.Description, LifetimeDays: t.LifetimeDays}
	if len(all) > 0 {
		created.Position = all[len(all)-1].Position + 1
	}
	return i.Types.Create(ctx, created)
}

// merge writes the elements of a document.
type merge[T any] struct {
	id func(T) string
	// prepare returns an element as it will be stored, with notes about what was not taken over, or why it is skipped. old
	// is the stored element, or nil.
	prepare        func(element T, old *T) (T, []string, error)
	create, update func(context.Context, T) error
}

// run writes what differs and fills the section. It returns the ids that are stored then.
func (m merge[T]) run(
	ctx context.Context, o Options, what string, stored, elements []T, s *Section,
) (map[string]bool, error) {
	old := map[string]*T{}
	for _, element := range stored {
		old[m.id(element)] = &element
	}
	known := map[string]bool{}
	for id := range old {
		known[id] = true
	}
	seen := map[string]bool{}
	for n, element := range elements {
		o.Progress(what, n, len(elements))
		id := m.id(element)
		next, notes, err := m.prepare(element, old[id])
		if err == nil && seen[id] {
			err = errors.New("it occurs more than once")
		}
		if err != nil {
			s.Skipped = append(s.Skipped, Remark{id, err.Error()})
			continue
		}
		seen[id] = true
		skipped, err := m.write(ctx, o, id, old[id], next, s)
		if err != nil {
			return known, fmt.Errorf("import %s: %q: %w", what, id, err)
		}
		if skipped {
			continue
		}
		known[id] = true
		for _, note := range notes {
			s.Notes = append(s.Notes, Remark{id, note})
		}
	}
	o.Progress(what, len(elements), len(elements))
	return known, nil
}

// write creates or updates one element if it differs from the stored one.
func (m merge[T]) write(
	ctx context.Context, o Options, id string, old *T, next T, s *Section,
) (skipped bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	write, members := m.create, []string(nil)
	if old != nil {
		write = m.update
		if members, err = differing(*old, next); err != nil {
			return false, err
		}
		if len(members) == 0 {
			s.Unchanged++
			return false, nil
		}
	}
	if !o.DryRun {
		err = write(ctx, next)
	}
	switch {
	case isRefused(err):
		s.Skipped = append(s.Skipped, Remark{id, err.Error()})
		return true, nil
	case err != nil:
		return false, err
	case old == nil:
		s.Created = append(s.Created, id)
	default:
		s.Updated = append(s.Updated, Update{id, members})
	}
	return false, nil
}

// isRefused reports whether an element cannot be written, even if the write is repeated.
func isRefused(err error) bool {
	if _, tooLarge := errors.AsType[*contextfield.SizeError](err); tooLarge {
		return true
	}
	return slices.ContainsFunc([]error{
		contextfield.ErrTooLarge, user.ErrTooMany, user.ErrEmailExists, user.ErrUsernameExists, user.ErrIdentityExists,
	}, func(refused error) bool { return errors.Is(err, refused) })
}

// differing returns the names of the JSON members in which two values differ, sorted.
func differing(a, b any) (names []string, err error) {
	members := [2]map[string]json.RawMessage{}
	for i, v := range []any{a, b} {
		text, err := json.Marshal(v)
		if err != nil {
			return nil, err
		}
		if err := json.Unmarshal(text, &members[i]); err != nil {
			return nil, err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(members[0])) {
		if string(members[0][name]) != string(members[1][name]) {
			names = append(names, name)
		}
	}
	return names, nil
}
