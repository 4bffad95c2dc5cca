package feature

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"toggleadmin/pkg/api/environment"
	"toggleadmin/pkg/api/favorite"
	"toggleadmin/pkg/api/featuretable"
	"toggleadmin/pkg/api/featuretype"
	"toggleadmin/pkg/api/segmenttable"
	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/delivery/usagetable"
	"toggleadmin/pkg/platform/accesstable"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/pkg/toggle"
)

// Reader reads toggles and their types. It is safe for concurrent use.
type Reader struct {
	client       *dynamodb.Client
	table        string
	segments     string // the table
	usage        string // the table
	types        *featuretype.Store
	environments *environment.Store
	users        *user.Names
	access       *accesstable.Reader // of groups
	favorites    *favorite.Store
	project      string // of the toggles that it finds by name; empty: all
	now          func() time.Time
	hour         *runningHour // nil: responses have no usage
}

// NewReader returns a reader of the tables Features, FeatureTypes, Environments and Segments. Responses also need the
// tables Users and Access, and with WithUsage the table Usage.
func NewReader(client *dynamodb.Client, tables dynamo.Tables, now func() time.Time) *Reader {
	return &Reader{
		client:       client,
		table:        tables[featuretable.Table],
		segments:     tables[segmenttable.Table],
		usage:        tables[usagetable.Table],
		types:        featuretype.NewStore(client, tables, nil),
		environments: environment.NewStore(client, tables, nil),
		users:        user.NewNames(client, tables),
		access:       accesstable.NewReader(client, tables),
		favorites:    favorite.NewStore(client, tables),
		now:          now,
	}
}

// InProject returns a copy of the reader that finds only toggles of a project by their names.
func (r *Reader) InProject(project string) *Reader {
	scoped := *r
	scoped.project = project
	return &scoped
}

// Get reads a toggle. The kind of its error is NotFound if there is none.
func (r *Reader) Get(ctx context.Context, name string) (toggle.Feature, error) {
	item, err := dynamo.Get(ctx, r.client, r.table, featuretable.Key(name))
	if err != nil {
		return toggle.Feature{}, fmt.Errorf("get toggle %q: %w", name, err)
	}
	if item == nil {
		return toggle.Feature{}, NotFound(r.project, name)
	}
	f, err := featuretable.Unmarshal(item)
	if err != nil {
		return toggle.Feature{}, err
	}
	if err := r.requireProject(f); err != nil {
		return toggle.Feature{}, err
	}
	return f, nil
}

// requireProject returns an error, as if the toggle did not exist, if it belongs to another project than InProject.
func (r *Reader) requireProject(f toggle.Feature) error {
	if r.project == "" || r.project == f.Project {
		return nil
	}
	return NotFound(r.project, f.Name)
}

// read reads toggles, in the order of their names, which are different. The kind of its error is NotFound if one does
// not exist.
func (r *Reader) read(ctx context.Context, names []string) ([]toggle.Feature, error) {
	if len(names) == 1 {
		f, err := r.Get(ctx, names[0])
		return []toggle.Feature{f}, err
	}
	found, err := featuretable.Read(ctx, r.client, r.table, names)
	if err != nil {
		return nil, fmt.Errorf("read %d toggles: %w", len(names), err)
	}
	byName := map[string]featuretable.Row{}
	for _, row := range found {
		byName[row.Toggle.Name] = row
	}
	all := make([]toggle.Feature, len(names))
	for i, name := range names {
		row, ok := byName[name]
		if !ok {
			return nil, NotFound(r.project, name)
		}
		if all[i], err = row.Feature(); err != nil {
			return nil, err
		}
	}
	for _, f := range all {
		if err := r.requireProject(f); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// List reads all toggles, ordered by name (code points), with a consistent parallel Scan.
func (r *Reader) List(ctx context.Context) ([]toggle.Feature, error) {
	return r.list(ctx, func(featuretable.Row) bool { return true })
}

// list is List for the selected toggles.
func (r *Reader) list(ctx context.Context, selects func(featuretable.Row) bool) ([]toggle.Feature, error) {
	rows, err := featuretable.Scan(ctx, r.client, r.table, selects)
	if err != nil {
		return nil, err
	}
	all, err := featuretable.Features(rows)
	slices.SortFunc(all, func(a, b toggle.Feature) int { return cmp.Compare(a.Name, b.Name) })
	return all, err
}

// Type reads the type of a toggle. found is false if it does not exist; it has no lifetime then.
func (r *Reader) Type(ctx context.Context, id string) (t toggle.Type, found bool, err error) {
	t, err = r.types.Get(ctx, id)
	if apierror.KindOf(err) == apierror.NotFound {
		return toggle.Type{ID: id}, false, nil
	}
	return t, err == nil, err
}

// Types reads all feature types.
func (r *Reader) Types(ctx context.Context) (Types, error) {
	list, err := r.types.List(ctx)
	all := Types{}
	for _, t := range list {
		all[t.ID] = t
	}
	return all, err
}

// DefaultLimit is the template's default of MaxFeatures.
const DefaultLimit = 20_000

// CheckLimit returns an error of the kind NoAccess if there are already limit toggles, including archived ones; 0:
// there is no limit. They are counted with eventual consistency. So there is no counter that
// each creation and deletion has to change, and concurrent creations can exceed the limit by their number.
func (r *Reader) CheckLimit(ctx context.Context, limit int64) error {
	if limit == 0 {
		return nil
	}
	number, err := featuretable.Count(ctx, r.client, r.table)
	if err != nil {
		return err
	}
	if number >= limit {
		return apierror.Errorf(apierror.NoAccess,
			"The maximum number of toggles (%d), including archived ones, is reached. Delete one first.", limit)
	}
	return nil
}
