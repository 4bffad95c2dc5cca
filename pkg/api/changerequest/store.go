package changerequest

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/api/apitoken"
	"toggleadmin/pkg/api/environment"
	"toggleadmin/pkg/api/feature"
	"toggleadmin/pkg/api/segment"
	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/accesstable"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/datetime"
	"toggleadmin/pkg/platform/dynamo"
)

// Table is the logical id of the table.
const Table = "ChangeRequests"

// The limits of change requests.
const (
	maxOpen    = 500     // in a project, without closed ones
	maxChanges = 30      // of a request
	maxSize    = 300_000 // of the changes of a request, in bytes; an item has at most 400 KB
)

const (
	hash             = "key" // the partition key: the id of a request, or one of the following
	projectPrefix    = "project:"
	attributeOpen    = "open"   // of a project: the ids of its requests that are not closed
	attributeLastID  = "lastId" // the highest id of a request, in the item with the version of the table
	attributeSummary = "summary"
	attributeProject = "project" // the partition key of indexProjects
	attributeAuthor  = "author"  // the partition key of indexAuthors: the account that created the request
	attributeID      = "id"      // the sort key of both
	attributeDue     = "due"     // the partition key of the index of schedules
	attributeDueAt   = "dueAt"   // the sort key of the index of schedules
)

// The indexes of the requests contain what filters need. Pages have the summaries of the table.
const (
	indexProjects = "projects"
	indexAuthors  = "authors"
)

// indexDue is the index of the requests that are to be applied at a time. They are all in the partition allDue.
const (
	indexDue = "due"
	allDue   = "scheduled"
)

// Store keeps the change requests in the table ChangeRequests: an item for each request, one for each project with the ids
// of its open requests and the number of requests by state, and one with the counter of ids. It is safe for concurrent
// use.
type Store struct {
	client       *dynamodb.Client
	table        string
	tables       dynamo.Tables
	version      dynamo.TableVersion
	features     *feature.Store
	segments     *segment.Store
	environments *environment.Store
	access       *accesstable.Reader
	users        *user.Store
	tokens       *apitoken.Store
	log          *eventlog.Log
	actions      actions
	newID        func() string // of a strategy
	groupDays    int64         // for which what an ID token said about groups counts
}

// Options are what a Store depends on besides the tables.
type Options struct {
	Log              *eventlog.Log
	NewStrategyID    func() string
	GroupsMaxAgeDays int64
}

// NewStore returns a Store on the tables ChangeRequests, Access, Users, and those of feature.NewStore and
// segment.NewStore. Only ApplyDue uses the table ApiTokens.
func NewStore(client *dynamodb.Client, tables dynamo.Tables, o Options) *Store {
	return &Store{
		client:       client,
		table:        tables[Table],
		tables:       tables,
		version:      dynamo.NewTableVersion(client, tables[Table], hash),
		features:     feature.NewStore(client, tables, o.Log),
		segments:     segment.NewStore(client, tables, o.Log),
		environments: environment.NewStore(client, tables, nil),
		access:       accesstable.NewReader(client, tables),
		users:        user.NewStore(client, tables, nil),
		tokens:       apitoken.NewStore(client, tables, nil),
		log:          o.Log,
		actions:      newActions(),
		newID:        o.NewStrategyID,
		groupDays:    o.GroupsMaxAgeDays,
	}
}

// The names of the actions of a transaction.
const (
	actionRequest = "request"
	actionProject = "project"
	actionCounter = "counter"
	actionEvent   = "event"
)

// record is the item of a request.
type record struct {
	Key string `dynamodbav:"key"`
	Request
	Summary Request    `dynamodbav:"summary"`          // for lists
	Author  int64      `dynamodbav:"author,omitempty"` // 0: an API token
	Due     string     `dynamodbav:"due,omitempty"`    // allDue while the request is to be applied at a time
	DueAt   *time.Time `dynamodbav:"dueAt,omitempty"`  // the time
}

// summary returns a request without what lists do not show.
func (r Request) summary() Request {
	r.Comments = nil
	r.Changes = slices.Clone(r.Changes)
	for i := range r.Changes {
		r.Changes[i].Payload, r.Changes[i].Seen, r.Changes[i].StrategyID = nil, "", ""
	}
	return r
}

func key(id int64) dynamo.Item { return dynamo.Item{hash: dynamo.S(strconv.FormatInt(id, 10))} }

func projectKey(project string) dynamo.Item {
	return dynamo.Item{hash: dynamo.S(projectPrefix + project)}
}

func (r Request) item() dynamo.Item {
	stored := record{Key: strconv.FormatInt(r.ID, 10), Request: r, Summary: r.summary(), Author: r.CreatedBy.ID}
	if r.Schedule != nil && r.Schedule.isWaiting() {
		stored.Due, stored.DueAt = allDue, &r.Schedule.At
	}
	return dynamo.Marshal(stored)
}

func fromItem(item dynamo.Item) (Request, error) {
	var r Request
	err := dynamo.Unmarshal(item, &r)
	return r, err
}

// notFound returns the error if a project has no request with an id; "": no project that the caller sees.
func notFound(project, id string) error {
	if project == "" {
		return apierror.Errorf(apierror.NotFound, "There is no change request with the id %q.", apierror.Echo(id))
	}
	return apierror.Errorf(apierror.NotFound, "There is no change request with the id %q in the project %q.",
		apierror.Echo(id), apierror.Echo(project))
}

// Get returns a request. The kind of its error is NotFound if the project has none with the id.
func (s *Store) Get(ctx context.Context, project string, id int64) (Request, error) {
	item, err := dynamo.Get(ctx, s.client, s.table, key(id))
	if err != nil {
		return Request{}, fmt.Errorf("get the change request %d: %w", id, err)
	}
	if item == nil || item.String(attributeProject) != project {
		return Request{}, notFound(project, strconv.FormatInt(id, 10))
	}
	return fromItem(item)
}

// ByID returns a request of a project that the caller sees. The kind of its error is NotFound if there is none.
func (s *Store) ByID(ctx context.Context, id int64) (Request, error) {
	item, err := dynamo.Get(ctx, s.client, s.table, key(id))
	if err != nil {
		return Request{}, fmt.Errorf("get the change request %d: %w", id, err)
	}
	if project := item.String(attributeProject); project != "" {
		sees, err := access.Sees(ctx, project)
		if err != nil {
			return Request{}, err
		}
		if sees {
			return fromItem(item)
		}
	}
	return Request{}, notFound("", strconv.FormatInt(id, 10))
}

// eventData is a request in the data of events.
type eventData struct {
	ID          int64   `json:"id"`
	Title       string  `json:"title,omitempty"`
	Environment string  `json:"environment"`
	State       State   `json:"state"`
	Changes     int     `json:"changes"`
	Approvals   []int64 `json:"approvals"` // the ids of the accounts whose approvals count
	Reviewers   []int64 `json:"reviewers"`
	Comment     string  `json:"comment,omitempty"`

	Schedule *eventSchedule `json:"schedule,omitempty"` // of the state Scheduled
}

// eventSchedule is a schedule in the data of events.
type eventSchedule struct {
	ScheduledAt string         `json:"scheduledAt"`
	Status      ScheduleStatus `json:"status"`
	Reason      string         `json:"reason,omitempty"`
}

func (r Request) eventData(comment string) eventData {
	data := eventData{ID: r.ID, Title: r.Title, Environment: r.Environment, State: r.State, Changes: len(r.Changes),
		Approvals: append([]int64{}, r.approvedBy()...), Reviewers: append([]int64{}, r.Reviewers...), Comment: comment}
	if s := r.Schedule; s != nil {
		data.Schedule = &eventSchedule{datetime.Format(s.At), s.Status, s.Reason}
	}
	return data
}

func subject(id int64) eventlog.Subject {
	return eventlog.Subject("change-request:" + strconv.FormatInt(id, 10))
}

// write is one change of a request.
type write struct {
	next    Request
	event   eventlog.Type
	comment string                      // in the data of the event
	parts   [][]types.TransactWriteItem // what the transaction does besides
	refused error                       // is returned after next was written; nil: none
}

// update changes a request, and returns it. plan receives the request, and is called again if the request, or what the
// transaction depends on, has changed. failed receives the failures of the actions of write.parts; it can be nil.
func (s *Store) update(
	ctx context.Context, project string, id int64, plan func(old Request) (write, error),
	failed func([]dynamo.Failure) error,
) (Request, error) {
	var w write
	err := s.log.RetryTransact(ctx, func() ([]types.TransactWriteItem, error) {
		old, err := s.Get(ctx, project, id)
		if err != nil {
			return nil, err
		}
		if w, err = plan(old); err != nil || w.event == "" {
			return nil, err
		}
		var actions dynamo.Actions
		if err := s.replace(ctx, &actions, old, &w); err != nil {
			return nil, err
		}
		return merge(append(slices.Clone(w.parts), actions.List())...)
	}, func(failures []dynamo.Failure) error {
		if failed == nil {
			return nil
		}
		return failed(failures)
	})
	if err == nil {
		err = w.refused
	}
	if err != nil {
		return Request{}, fmt.Errorf("change the change request %d: %w", id, err)
	}
	return w.next, nil
}

// replace adds the actions that write a changed request and its event.
func (s *Store) replace(ctx context.Context, actions *dynamo.Actions, old Request, w *write) error {
	event, record, err := s.log.RecordActions(eventlog.WithChangeRequest(ctx, old.ID), eventlog.Change{
		Type: w.event, Subject: subject(old.ID), Last: old.LastEvent, Project: old.Project, Environment: old.Environment,
		Data: w.next.eventData(w.comment), PreData: old.eventData(""),
	})
	if err != nil {
		return err
	}
	w.next.LastEvent = event
	actions.Add(actionRequest, dynamo.ReplaceItem(s.table, w.next.item(), eventlog.ExistsWithLast(hash, old.LastEvent)))
	if old.State != w.next.State {
		actions.Add(actionProject, s.count(old.Project, old.ID, old.State, w.next.State))
	}
	actions.Add(actionEvent, record...)
	return nil
}

// create adds a draft with changes, and returns it. check is called when no other draft can be created before this one any
// more; its error is returned.
func (s *Store) create(ctx context.Context, next Request, check func() error) (Request, error) {
	var actions dynamo.Actions
	err := s.log.RetryTransact(ctx, func() ([]types.TransactWriteItem, error) {
		version, err := s.version.Get(ctx)
		if err != nil {
			return nil, err
		}
		if err := check(); err != nil {
			return nil, err
		}
		next.ID = version.Int(attributeLastID) + 1
		event, record, err := s.log.RecordActions(eventlog.WithChangeRequest(ctx, next.ID), eventlog.Change{
			Type: eventlog.ChangeRequestCreated, Subject: subject(next.ID), Project: next.Project,
			Environment: next.Environment, Data: next.eventData(""),
		})
		if err != nil {
			return nil, err
		}
		next.LastEvent = event
		actions = dynamo.Actions{}
		actions.Add(actionRequest, dynamo.NewItem(s.table, hash, next.item()))
		actions.Add(actionProject, s.count(next.Project, next.ID, "", Draft))
		actions.Add(actionCounter, s.version.NextAfter(version, dynamo.Item{attributeLastID: dynamo.N(next.ID)}))
		actions.Add(actionEvent, record...)
		return actions.List(), nil
	}, func(failures []dynamo.Failure) error {
		if actions.Failed(failures)[actionProject].Failed {
			return errTooManyOpen(next.Project)
		}
		return nil
	})
	if err != nil {
		return Request{}, fmt.Errorf("create a change request: %w", err)
	}
	return next, nil
}

// Delete deletes a draft. check receives the request; its error is returned. The kind of its error is NotFound, or Conflict
// if the request is no draft.
func (s *Store) Delete(ctx context.Context, project string, id int64, check func(Request) error) error {
	err := s.log.RetryTransact(ctx, func() ([]types.TransactWriteItem, error) {
		old, err := s.Get(ctx, project, id)
		if err != nil {
			return nil, err
		}
		if err := check(old); err != nil {
			return nil, err
		}
		if old.State != Draft {
			return nil, apierror.Errorf(apierror.Conflict,
				"The change request %d has the state %q. Only a draft can be deleted. Cancel the request instead.", id, old.State)
		}
		_, record, err := s.log.RecordActions(eventlog.WithChangeRequest(ctx, id), eventlog.Change{
			Type: eventlog.ChangeRequestDiscarded, Subject: subject(id), Last: old.LastEvent, Project: project,
			Environment: old.Environment, PreData: old.eventData(""),
		})
		if err != nil {
			return nil, err
		}
		var actions dynamo.Actions
		actions.Add(actionRequest, dynamo.DeleteItem(s.table, key(id), eventlog.ExistsWithLast(hash, old.LastEvent)))
		actions.Add(actionProject, s.count(project, id, Draft, ""))
		actions.Add(actionEvent, record...)
		return actions.List(), nil
	}, nil)
	if err != nil {
		return fmt.Errorf("delete the change request %d: %w", id, err)
	}
	return nil
}

// SetTitle changes the title of a request. check receives the request; its error is returned.
func (s *Store) SetTitle(
	ctx context.Context, project string, id int64, title string, check func(Request) error,
) error {
	_, err := s.update(ctx, project, id, func(old Request) (write, error) {
		if err := cmp.Or(check(old), old.checkOpen()); err != nil || old.Title == title {
			return write{}, err
		}
		next := old
		next.Title = title
		return write{next: next, event: eventlog.ChangeRequestUpdated}, nil
	}, nil)
	return err
}

// SetReviewers changes who is asked for an approval: accounts that may approve, otherwise it is a 400. check receives the
// request; its error is returned.
func (s *Store) SetReviewers(
	ctx context.Context, project *access.Project, id int64, reviewers []int64, check func(Request) error,
) error {
	_, err := s.update(ctx, project.ID, id, func(old Request) (write, error) {
		if err := cmp.Or(check(old), old.checkOpen()); err != nil || slices.Equal(old.Reviewers, reviewers) {
			return write{}, err
		}
		if err := s.checkReviewers(ctx, project, old.Environment, reviewers); err != nil {
			return write{}, err
		}
		next := old
		next.Reviewers = reviewers
		return write{next: next, event: eventlog.ChangeRequestUpdated}, nil
	}, nil)
	return err
}

// maxComments is the maximum number of comments of a request.
const maxComments = 100

// Comment adds a comment to a request.
func (s *Store) Comment(ctx context.Context, project string, id int64, text string) error {
	_, err := s.update(ctx, project, id, func(old Request) (write, error) {
		next, err := old.commented(text, callerOf(ctx).Person, s.log.Now())
		return write{next: next, event: eventlog.ChangeRequestCommentAdded, comment: text}, err
	}, nil)
	return err
}

// commented returns a request with another comment.
func (r Request) commented(text string, by Person, now time.Time) (Request, error) {
	if len(r.Comments) >= maxComments {
		return r, apierror.Errorf(apierror.Validation, "The change request %d has %d comments, which is the maximum.", r.ID,
			maxComments)
	}
	r.LastID++
	r.Comments = append(slices.Clone(r.Comments), Comment{ID: r.LastID, Text: text, By: by, At: now})
	return r, nil
}
