package clientmetrics

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"golang.org/x/sync/errgroup"

	"toggleadmin/pkg/api/featuretable"
	"toggleadmin/pkg/delivery/usage"
	"toggleadmin/pkg/delivery/usagetable"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/dynamo"
)

// recentHours is the number of hours, the running one included, that "the last 24 hours" are.
const recentHours = 24

// Reader reads usage. It is safe for concurrent use.
type Reader struct {
	client   *dynamodb.Client
	table    string
	features string
	now      func() time.Time
}

// NewReader returns a reader of the tables Usage and Features. Only Application and Unknown read Features.
func NewReader(client *dynamodb.Client, tables dynamo.Tables, now func() time.Time) *Reader {
	return &Reader{client, tables[usagetable.Table], tables[featuretable.Table], now}
}

// since returns the start of the first of a number of hours, of which the running one is the last.
func since(now time.Time, hours int) time.Time {
	return usage.HourOf(now).Add(-time.Duration(hours-1) * time.Hour)
}

// Feature reads the usage of a toggle in a number of hours before a time, of which the running one is the last. A toggle
// that does not exist can have been used.
func (r *Reader) Feature(ctx context.Context, name string, now time.Time, hours int) ([]usagetable.Record, error) {
	return usagetable.ReadFeature(ctx, r.client, r.table, name, since(now, hours), now)
}

// Applications reads all applications, ordered by name, without those that cannot be read.
func (r *Reader) Applications(ctx context.Context) ([]usagetable.Application, error) {
	all, err := usagetable.Applications(ctx, r.client, r.table)
	if _, ok := errors.AsType[*usagetable.UnreadableError](err); ok {
		err = nil // the sweep that writes applications reports it
	}
	return all, err
}

// Application is what is known of an application.
type Application struct {
	usagetable.Application
	Instances map[string]map[string]usage.Instance // of the last 24 hours, by environment and id
	Features  map[string]environments              // what it asked for in the last 24 hours, by name
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
	stored, found, err := usagetable.ReadApplication(ctx, r.client, r.table, name)
	if err != nil {
		return Application{}, fmt.Errorf("read the application %q: %w", name, err)
	}
	if !found {
		return Application{}, unknownApplication(name)
	}
	a := Application{
		Application: stored,
		Instances:   map[string]map[string]usage.Instance{},
		Features:    map[string]environments{},
	}
	now := r.now()
	reads, readCtx := errgroup.WithContext(ctx)
	reads.Go(func() error {
		presence, err := usagetable.ReadPresences(readCtx, r.client, r.table, since(now, recentHours), now)
		for environment, applications := range presence {
			if instances := applications[name].Instances; len(instances) > 0 {
				a.Instances[environment] = instances
			}
		}
		return err
	})
	reads.Go(func() error {
		asked, err := usagetable.ReadUse(readCtx, r.client, r.table, name, since(now, recentHours), now)
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
	a.Existing, err = existing(ctx, r, a.Features)
	return a, err
}

func unknownApplication(name string) error {
	return apierror.Errorf(apierror.NotFound, "No application with the name %q has reported in the last 90 days.",
		apierror.Echo(name))
}

// existing returns the projects of those of the names that are toggles which are not archived: applications can ask for
// them.
func existing[V any](ctx context.Context, r *Reader, names map[string]V) (map[string]string, error) {
	keys := make([]dynamo.Item, 0, len(names))
	for name := range names {
		if len(name) <= maxKey {
			keys = append(keys, featuretable.Key(name))
		}
	}
	items, err := dynamo.GetAll(ctx, r.client, r.features, keys)
	if err != nil {
		return nil, fmt.Errorf("read which toggles exist: %w", err)
	}
	found := map[string]string{}
	for _, item := range items {
		if row := featuretable.UnmarshalRow(item); !row.Toggle.Archived {
			found[row.Toggle.Name] = row.Toggle.Project
		}
	}
	return found, nil
}

// maxKey is the maximum length of a partition key in DynamoDB, in bytes. Applications can ask for longer names.
const maxKey = 2048

// Unknown is a name that applications asked for and that no toggle has.
type Unknown struct {
	Name    string
	SeenAt  time.Time
	Reports map[string]map[string]time.Time // when they were last written, by application and environment
}

// Unknown reads the names that applications asked for in the last 24 hours and that do not exist now, by name.
func (r *Reader) Unknown(ctx context.Context) (map[string]*Unknown, error) {
	now := r.now()
	all := map[string]*Unknown{}
	records, err := usagetable.ReadUnknown(ctx, r.client, r.table, since(now, recentHours), now)
	if err != nil {
		return nil, err
	}
	for _, record := range records {
		for name, byApplication := range record.Names {
			if all[name] == nil {
				all[name] = &Unknown{Name: name, Reports: map[string]map[string]time.Time{}}
			}
			for application, at := range byApplication {
				all[name].add(application, record.Environment, at)
			}
		}
	}
	exist, err := existing(ctx, r, all)
	for name := range exist {
		delete(all, name)
	}
	return all, err
}

// add adds when reports of an application in an environment were last written.
func (u *Unknown) add(application, environment string, at time.Time) {
	if u.Reports[application] == nil {
		u.Reports[application] = map[string]time.Time{}
	}
	if at.After(u.Reports[application][environment]) {
		u.Reports[application][environment] = at
	}
	if at.After(u.SeenAt) {
		u.SeenAt = at
	}
}
