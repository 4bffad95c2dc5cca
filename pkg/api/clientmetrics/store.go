package clientmetrics

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"golang.org/x/sync/errgroup"

	"toggleadmin/pkg/api/featuretable"
	"toggleadmin/pkg/delivery/clienttokentable"
	"toggleadmin/pkg/delivery/usage"
	"toggleadmin/pkg/delivery/usagetable"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/pkg/toggle"
)

// recentHours is the number of hours, the running one included, that "the last 24 hours" are.
const recentHours = 24

// Reader reads usage. It is safe for concurrent use.
type Reader struct {
	client     *dynamodb.Client
	table      string
	features   string
	visibility *featuretable.Visibility
	now        func() time.Time
}

// NewReader returns a reader of the tables Usage and Features, and of Events for which toggles were deleted. Its methods
// return what the caller sees: nothing of toggles and applications of other projects.
func NewReader(client *dynamodb.Client, tables dynamo.Tables, now func() time.Time) *Reader {
	return &Reader{
		client:     client,
		table:      tables[usagetable.Table],
		features:   tables[featuretable.Table],
		visibility: featuretable.NewVisibility(client, tables),
		now:        now,
	}
}

// since returns the start of the first of a number of hours, of which the running one is the last.
func since(now time.Time, hours int) time.Time {
	return usage.HourOf(now).Add(-time.Duration(hours-1) * time.Hour)
}

// Usage reads the usage of toggles in a number of hours before a time, of which the running one is the last. A toggle that
// does not exist can have been used. One that the caller does not see is like one that was never used, and applications
// that the caller does not see have used nothing.
func (r *Reader) Usage(ctx context.Context, names []string, now time.Time, hours int) ([]usagetable.Record, error) {
	hidden, err := r.hidden(ctx, names)
	if err != nil {
		return nil, err
	}
	names = slices.DeleteFunc(slices.Clone(names), func(name string) bool { return hidden[name] })
	if len(names) == 0 {
		return nil, nil
	}
	records, err := usagetable.ReadFeatures(ctx, r.client, r.table, names, since(now, hours), now)
	if err != nil {
		return nil, err
	}
	applications := map[string]bool{}
	for _, record := range records {
		for application := range record.Applications {
			applications[application] = true
		}
	}
	if hidden, err = r.hiddenApplications(ctx, applications); err != nil {
		return nil, err
	}
	return slices.DeleteFunc(records, func(record usagetable.Record) bool {
		maps.DeleteFunc(record.Applications, func(application string, _ usage.Counts) bool { return hidden[application] })
		return len(record.Applications) == 0
	}), nil
}

// hidden returns which of the names are toggles in projects that the caller does not see, or were such toggles.
func (r *Reader) hidden(ctx context.Context, names []string) (map[string]bool, error) {
	if access.PrincipalFrom(ctx).Has(access.Admin) {
		return nil, nil //nolint:nilnil // none
	}
	visible, err := access.Visibility(ctx)
	if err != nil {
		return nil, err
	}
	return r.visibility.Hidden(ctx, names, visible)
}

// hiddenApplications returns which applications have only tokens of projects that the caller does not see. So can those
// that are not recorded yet, in the first minute of their use.
func (r *Reader) hiddenApplications(ctx context.Context, names map[string]bool) (map[string]bool, error) {
	all, err := access.SeesAll(ctx)
	if err != nil || all {
		return nil, err
	}
	visible, err := access.Visibility(ctx)
	if err != nil {
		return nil, err
	}
	stored, err := usagetable.ReadApplications(ctx, r.client, r.table, slices.Collect(maps.Keys(names)))
	hidden := map[string]bool{}
	for name := range names {
		hidden[name] = name != usage.Other
	}
	for _, a := range stored {
		hidden[a.Name] = !isVisible(a, visible)
	}
	return hidden, err
}

// Applications reads all applications, ordered by name, without those that cannot be read.
func (r *Reader) Applications(ctx context.Context) ([]usagetable.Application, error) {
	visible, err := access.Visibility(ctx)
	if err != nil {
		return nil, err
	}
	all, err := usagetable.Applications(ctx, r.client, r.table)
	if err := usagetable.ExceptIncomplete(err); err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(a usagetable.Application) bool { return !isVisible(a, visible) })
	hidden, err := r.usingOnlyHidden(ctx, all)
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(a usagetable.Application) bool { return hidden[a.Name] })
	for i := range all {
		all[i].Projects = visibleProjects(all[i], visible)
	}
	return all, nil
}

// usingOnlyHidden returns which applications with tokens for all projects alone asked, in the last 24 hours, only for
// toggles that the caller does not see. It reads what each of these applications used, unless the caller sees all
// projects.
func (r *Reader) usingOnlyHidden(ctx context.Context, all []usagetable.Application) (map[string]bool, error) {
	seesAll, err := access.SeesAll(ctx)
	if err != nil || seesAll {
		return nil, err
	}
	var names []string
	for _, a := range all {
		if ofAllProjects(a) {
			names = append(names, a.Name)
		}
	}
	now := r.now()
	asked, err := usagetable.ReadUse(ctx, r.client, r.table, names, since(now, recentHours), now)
	if err != nil {
		return nil, err
	}
	features := map[string]bool{}
	for _, record := range asked {
		for _, name := range record.Features {
			features[name] = true
		}
	}
	hidden, err := r.hidden(ctx, slices.Collect(maps.Keys(features)))
	onlyHidden := map[string]bool{}
	for _, record := range asked {
		for _, name := range record.Features {
			before, known := onlyHidden[record.Application]
			onlyHidden[record.Application] = hidden[name] && (before || !known)
		}
	}
	return onlyHidden, err
}

// ofAllProjects reports whether an application has used no token of certain projects.
func ofAllProjects(a usagetable.Application) bool {
	return !slices.ContainsFunc(a.Projects, func(project string) bool { return project != clienttokentable.AllProjects })
}

// visibleProjects returns the projects of an application that are visible.
func visibleProjects(a usagetable.Application, visible func(project string) bool) []string {
	return slices.DeleteFunc(slices.Clone(a.Projects), func(project string) bool {
		return project != clienttokentable.AllProjects && !visible(project)
	})
}

// isVisible reports whether an application has not only projects that are not visible.
func isVisible(a usagetable.Application, visible func(project string) bool) bool {
	return len(a.Projects) == 0 || len(visibleProjects(a, visible)) > 0
}

// Uses returns the names that applications used in the last 24 hours, by the application. It has none for an
// application that the caller does not see.
func (r *Reader) Uses(ctx context.Context, applications []string) (map[string]map[string]bool, error) {
	names := map[string]bool{}
	for _, name := range applications {
		names[name] = true
	}
	hidden, err := r.hiddenApplications(ctx, names)
	if err != nil {
		return nil, err
	}
	maps.DeleteFunc(names, func(name string, _ bool) bool { return hidden[name] })
	now := r.now()
	asked, err := usagetable.ReadUse(ctx, r.client, r.table, slices.Sorted(maps.Keys(names)), since(now, recentHours), now)
	uses := map[string]map[string]bool{}
	for _, record := range asked {
		if uses[record.Application] == nil {
			uses[record.Application] = map[string]bool{}
		}
		for _, name := range record.Features {
			uses[record.Application][name] = true
		}
	}
	return uses, err
}

// Application is what is known of an application.
type Application struct {
	usagetable.Application
	Instances map[string]map[string]usage.Instance // of the last 24 hours, by environment and id; at most maxInstances
	Features  map[string]environments              // what it used in the last 24 hours, by name
	Existing  map[string]string                    // the projects of those of Features that are toggles, by name
}

// environments is the set of the names of environments.
type environments map[string]bool

// add adds an environment in which something happened, by a name.
func add(all map[string]environments, name, environment string) {
	if all[name] == nil {
		all[name] = environments{}
	}
	all[name][environment] = true
}

// Application reads an application. The kind of its error is NotFound if none with the name has reported in 90 days.
func (r *Reader) Application(ctx context.Context, name string) (Application, error) {
	visible, err := access.Visibility(ctx)
	if err != nil {
		return Application{}, err
	}
	stored, found, err := usagetable.ReadApplication(ctx, r.client, r.table, name)
	if err != nil {
		return Application{}, fmt.Errorf("read the application %q: %w", name, err)
	}
	if !found || !isVisible(stored, visible) {
		return Application{}, unknownApplication(name)
	}
	stored.Projects = visibleProjects(stored, visible)
	a := Application{Application: stored, Features: map[string]environments{}}
	now := r.now()
	reads, readCtx := errgroup.WithContext(ctx)
	reads.Go(func() error {
		all, err := usagetable.ReadInstances(readCtx, r.client, r.table, name, since(now, recentHours), now)
		a.Instances = lastInstances(all)
		return err
	})
	reads.Go(func() error {
		asked, err := usagetable.ReadUse(readCtx, r.client, r.table, []string{name}, since(now, recentHours), now)
		for _, record := range asked {
			for _, feature := range record.Features {
				add(a.Features, feature, record.Environment)
			}
		}
		return err
	})
	if err := reads.Wait(); err != nil {
		return Application{}, err
	}
	hidden, err := r.hidden(ctx, slices.Collect(maps.Keys(a.Features)))
	if err != nil {
		return Application{}, err
	}
	asks := len(a.Features) > 0
	maps.DeleteFunc(a.Features, func(name string, _ environments) bool { return hidden[name] })
	if asks && len(a.Features) == 0 && ofAllProjects(stored) {
		return Application{}, unknownApplication(name)
	}
	toggles, err := r.toggles(ctx, slices.Collect(maps.Keys(a.Features)))
	a.Existing = map[string]string{}
	for name, f := range toggles {
		if !f.Archived {
			a.Existing[name] = f.Project
		}
	}
	return a, err
}

// maxInstances is the number of instances of an application that are returned. A frontend token can report any number.
const maxInstances = 1_000

// lastInstances returns the instances that have reported last, those with backend tokens first, if there are too many.
func lastInstances(all map[string]map[string]usage.Instance) map[string]map[string]usage.Instance {
	type key struct{ environment, id string }
	var keys []key
	for environment, instances := range all {
		for id := range instances {
			keys = append(keys, key{environment, id})
		}
	}
	if len(keys) <= maxInstances {
		return all
	}
	slices.SortFunc(keys, func(a, b key) int {
		i, j := all[a.environment][a.id], all[b.environment][b.id]
		return cmp.Or(falseFirst(i.Frontend, j.Frontend), j.SeenAt.Compare(i.SeenAt),
			cmp.Compare(a.environment, b.environment), cmp.Compare(a.id, b.id))
	})
	for _, k := range keys[maxInstances:] {
		delete(all[k.environment], k.id)
	}
	return all
}

func unknownApplication(name string) error {
	return apierror.Errorf(apierror.NotFound, "No application with the name %q has reported in the last 90 days.",
		apierror.Echo(name))
}

// falseFirst compares two booleans.
func falseFirst(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	default:
		return 1
	}
}

// toggles returns those of the names that are toggles, archived ones too: applications can report any name.
func (r *Reader) toggles(ctx context.Context, names []string) (map[string]toggle.Feature, error) {
	keys := make([]dynamo.Item, 0, len(names))
	for _, name := range names {
		if len(name) <= maxKey {
			keys = append(keys, featuretable.Key(name))
		}
	}
	items, err := dynamo.GetAll(ctx, r.client, r.features, keys)
	if err != nil {
		return nil, fmt.Errorf("read which toggles exist: %w", err)
	}
	found := map[string]toggle.Feature{}
	for _, item := range items {
		row := featuretable.UnmarshalRow(item)
		found[row.Toggle.Name] = row.Toggle
	}
	return found, nil
}

// maxKey is the maximum length of a partition key in DynamoDB, in bytes. Applications can report longer names.
const maxKey = 2048

// Unknown is a name that applications used and that no toggle has.
type Unknown struct {
	Name    string
	Reports map[string]map[string]time.Time // when they were last written, by application and environment

	isFrontend bool // only applications with frontend tokens used it
}

// The limits of the names without a toggle. A frontend token can report any of them.
const (
	maxUnknown    = 1_000 // that are returned
	maxCandidates = 5_000 // that are looked up
)

// Unknown reads the names that applications used in the last 24 hours and that no toggle has now, except archived
// ones, by name. If there are too many, it returns names of archived toggles first, then those that applications with
// backend tokens asked for.
func (r *Reader) Unknown(ctx context.Context) (map[string]*Unknown, error) {
	now := r.now()
	records, err := usagetable.ReadUnknown(ctx, r.client, r.table, since(now, recentHours), now)
	if err != nil {
		return nil, err
	}
	all := map[string]*Unknown{}
	for _, record := range records {
		addUnknown(all, record.Environment, record.Names, false)
		addUnknown(all, record.Environment, record.Frontend, true)
	}
	if err := r.removeHiddenReports(ctx, all); err != nil {
		return nil, err
	}
	names := slices.SortedFunc(maps.Keys(all), func(a, b string) int {
		return cmp.Or(falseFirst(all[a].isFrontend, all[b].isFrontend), cmp.Compare(a, b))
	})
	names = names[:min(len(names), maxCandidates)]
	hidden, err := r.hidden(ctx, names)
	if err != nil {
		return nil, err
	}
	toggles, err := r.toggles(ctx, names)
	if err != nil {
		return nil, err
	}
	isToggle := func(name string) bool { _, ok := toggles[name]; return ok }
	names = slices.DeleteFunc(names, func(name string) bool {
		return hidden[name] || isToggle(name) && !toggles[name].Archived
	})
	slices.SortStableFunc(names, func(a, b string) int { return falseFirst(isToggle(b), isToggle(a)) })
	unknown := map[string]*Unknown{}
	for _, name := range names[:min(len(names), maxUnknown)] {
		unknown[name] = all[name]
	}
	return unknown, nil
}

// removeHiddenReports removes the reports of applications that the caller does not see, and names without other reports.
func (r *Reader) removeHiddenReports(ctx context.Context, all map[string]*Unknown) error {
	applications := map[string]bool{}
	for _, u := range all {
		for application := range u.Reports {
			applications[application] = true
		}
	}
	hidden, err := r.hiddenApplications(ctx, applications)
	if err != nil {
		return err
	}
	maps.DeleteFunc(all, func(_ string, u *Unknown) bool {
		maps.DeleteFunc(u.Reports, func(application string, _ map[string]time.Time) bool { return hidden[application] })
		return len(u.Reports) == 0
	})
	return nil
}

// addUnknown adds the names that applications in an environment used.
func addUnknown(all map[string]*Unknown, environment string, names usagetable.Unknown, isFrontend bool) {
	for name, by := range names {
		if all[name] == nil {
			all[name] = &Unknown{Name: name, Reports: map[string]map[string]time.Time{}, isFrontend: true}
		}
		all[name].isFrontend = all[name].isFrontend && isFrontend
		for application, at := range by {
			all[name].add(application, environment, at)
		}
	}
}

// SeenAt returns when the last report was written.
func (u *Unknown) SeenAt() (last time.Time) {
	for _, reports := range u.Reports {
		for _, at := range reports {
			if at.After(last) {
				last = at
			}
		}
	}
	return last
}

// add adds when reports of an application in an environment were last written.
func (u *Unknown) add(application, environment string, at time.Time) {
	if u.Reports[application] == nil {
		u.Reports[application] = map[string]time.Time{}
	}
	if at.After(u.Reports[application][environment]) {
		u.Reports[application][environment] = at
	}
}
