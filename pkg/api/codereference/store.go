package codereference

import (
	"bytes"
	"compress/flate"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"toggleadmin/pkg/platform/accesstable"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/datetime"
	"toggleadmin/pkg/platform/dynamo"
)

// maxSize is the maximum size of the compressed places of a report, in bytes. An item has at most 400 KB.
const maxSize = 300_000

// Store keeps the reports in the table Access. It is safe for concurrent use.
type Store struct {
	client   *dynamodb.Client
	table    string
	projects *accesstable.Reader
	now      func() time.Time
}

// NewStore returns a Store on the table Access.
func NewStore(client *dynamodb.Client, tables dynamo.Tables, now func() time.Time) *Store {
	return &Store{client, tables[accesstable.Table], accesstable.NewReader(client, tables), now}
}

// record is the item of a report.
type record struct {
	Kind       accesstable.Kind `dynamodbav:"kind"`
	ID         string           `dynamodbav:"id"`
	Project    string           `dynamodbav:"project"`
	Repository string           `dynamodbav:"repository"`
	Revision   string           `dynamodbav:"revision,omitempty"`
	RevisionAt time.Time        `dynamodbav:"revisionAt"`
	ReportedAt time.Time        `dynamodbav:"reportedAt"`
	Found      []byte           `dynamodbav:"found"`  // found in JSON, compressed with DEFLATE (RFC 1951)
	Number     int64            `dynamodbav:"number"` // of reports of the repository so far
}

const attributeNumber = "number"

// found is what a report has of toggles.
type found struct {
	Places map[string][]Place   `json:"places,omitempty"`
	Gone   map[string]time.Time `json:"gone,omitempty"`
}

func toItem(r Report, number int64) (dynamo.Item, error) {
	var packed bytes.Buffer
	w, err := flate.NewWriter(&packed, flate.BestCompression)
	if err == nil {
		err = errors.Join(json.NewEncoder(w).Encode(found{r.Places, r.Gone}), w.Close())
	}
	if err != nil {
		panic(fmt.Sprintf("compress code references: %v", err)) // a defect of the program: no value or write can fail
	}
	if packed.Len() > maxSize {
		return nil, apierror.Errorf(apierror.Validation, "The report is too large: compressed, its %d code references have "+
			"%d bytes, and the maximum is %d. Report folders of the repository as repositories of their own.", r.count(),
			packed.Len(), maxSize)
	}
	return dynamo.Marshal(record{
		Kind: accesstable.KindCodeReferences, ID: accesstable.CodeReferencesID(r.Project, r.Repository),
		Project: r.Project, Repository: r.Repository, Revision: r.Revision, RevisionAt: r.RevisionAt,
		ReportedAt: r.ReportedAt, Found: packed.Bytes(), Number: number,
	}), nil
}

func fromItem(item dynamo.Item) (r Report, number int64, err error) {
	var stored record
	if err := dynamo.Unmarshal(item, &stored); err != nil {
		return Report{}, 0, err
	}
	var content found
	if err := json.NewDecoder(flate.NewReader(bytes.NewReader(stored.Found))).Decode(&content); err != nil {
		return Report{}, 0, fmt.Errorf("decompress the code references of %q: %w", stored.ID, err)
	}
	return Report{
		Project: stored.Project, Repository: stored.Repository, Revision: stored.Revision, RevisionAt: stored.RevisionAt,
		ReportedAt: stored.ReportedAt, Places: content.Places, Gone: content.Gone,
	}, stored.Number, nil
}

// OfProject returns the reports of a project, ordered by repository. It is one consistent Query per MB.
func (s *Store) OfProject(ctx context.Context, project string) ([]Report, error) {
	return s.list(ctx, accesstable.CodeReferencesOf(project))
}

// All returns the reports of all projects, ordered by project and repository. It is one consistent Query per MB.
func (s *Store) All(ctx context.Context) ([]Report, error) {
	return s.list(ctx, expression.Key(accesstable.Hash).Equal(expression.Value(accesstable.KindCodeReferences)))
}

func (s *Store) list(ctx context.Context, keys expression.KeyConditionBuilder) ([]Report, error) {
	var all []Report
	for item, err := range dynamo.QueryWhere(ctx, s.client, s.table, keys) {
		if err != nil {
			return nil, fmt.Errorf("list code references: %w", err)
		}
		r, _, err := fromItem(item)
		if err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	return all, nil
}

// The names of the actions of a transaction.
const (
	actionReport  = "report"
	actionProject = "project"
)

// Put stores a report instead of the previous one of the repository for the project, and returns it as it is stored, with
// the names of the toggles that only it has, and of those that only the previous one had. The kind of its error is
// NotFound if the project does not exist, Conflict if it is archived or if the stored report is of a newer revision, or
// Validation if the report is too large or the project has reports of too many repositories. Concurrent first reports can
// exceed this limit by their number.
func (s *Store) Put(ctx context.Context, r Report) (stored Report, added, removed []string, err error) {
	err = dynamo.Retry(ctx, func() (bool, error) {
		stored, added, removed, err = s.tryPut(ctx, r)
		if errors.Is(err, errChanged) {
			return false, nil
		}
		return true, err
	})
	if err != nil {
		return Report{}, nil, nil, err
	}
	return stored, added, removed, nil
}

// errChanged reports that the report of the repository, or its project, was changed concurrently.
var errChanged = errors.New("the code references were changed concurrently")

func (s *Store) tryPut(ctx context.Context, r Report) (_ Report, added, removed []string, err error) {
	old, number, err := s.get(ctx, r.Project, r.Repository)
	if err != nil {
		return Report{}, nil, nil, err
	}
	now := datetime.Milliseconds(s.now())
	r.ReportedAt = now
	if r.RevisionAt.IsZero() || r.RevisionAt.After(now) {
		r.RevisionAt = now
	}
	switch {
	case r.RevisionAt.Before(old.RevisionAt):
		return Report{}, nil, nil, apierror.Errorf(apierror.Conflict,
			"The stored code references of the repository are of a newer revision, of %s.", datetime.Format(old.RevisionAt))
	case number == 0:
		if err := s.checkLimit(ctx, r.Project); err != nil {
			return Report{}, nil, nil, err
		}
	}
	added, removed = r.replace(old)
	item, err := toItem(r, number+1)
	if err != nil {
		return Report{}, nil, nil, err
	}
	unchanged := expression.Name(attributeNumber).AttributeNotExists()
	if number != 0 {
		unchanged = expression.Name(attributeNumber).Equal(expression.Value(number))
	}
	active := accesstable.Condition{Active: true}
	var actions dynamo.Actions
	actions.Add(actionReport, dynamo.ReplaceItem(s.table, item, unchanged))
	actions.Add(actionProject, active.Actions(s.table, r.Project, now)...)
	failures, err := dynamo.Transact(ctx, s.client, actions.List())
	if err != nil {
		return Report{}, nil, nil, fmt.Errorf("store the code references of %q: %w", r.Repository, err)
	}
	if f, ok := actions.Failed(failures)[actionProject]; ok {
		err = active.Unmet(f, r.Project, now)
	}
	if err == nil && failures != nil {
		err = errChanged
	}
	return r, added, removed, err
}

// get returns the report of a repository for a project, and the number of its reports so far, which is 0 if there is none.
func (s *Store) get(ctx context.Context, project, repository string) (r Report, number int64, err error) {
	item, err := dynamo.Get(ctx, s.client, s.table,
		accesstable.Key(accesstable.KindCodeReferences, accesstable.CodeReferencesID(project, repository)))
	if err != nil {
		return Report{}, 0, fmt.Errorf("get the code references of %q: %w", repository, err)
	}
	if item == nil {
		return Report{}, 0, nil
	}
	return fromItem(item)
}

// checkLimit returns the error if no other repository can report for a project.
func (s *Store) checkLimit(ctx context.Context, project string) error {
	n := 0
	keys := accesstable.CodeReferencesOf(project)
	for _, err := range dynamo.QueryWhere(ctx, s.client, s.table, keys, accesstable.Range) {
		if err != nil {
			return fmt.Errorf("count the repositories of %q: %w", project, err)
		}
		n++
	}
	if n >= MaxRepositories {
		return apierror.Errorf(apierror.Validation, "The maximum number of repositories (%d) that report code references of "+
			"a project is reached.", MaxRepositories)
	}
	return nil
}
