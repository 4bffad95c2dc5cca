package changerequest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/api/environment"
	"toggleadmin/pkg/api/feature"
	"toggleadmin/pkg/api/segment"
	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/accesstable"
	"toggleadmin/pkg/platform/apierror"
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
	attributeProject = "project" // the partition key of the index
	attributeID      = "id"      // the sort key of the index
)

// index is the index of the requests by their projects, which contains their summaries.
const index = "projects"

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
// segment.NewStore.
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
	Summary Request `dynamodbav:"summary"` // for the index
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
	return dynamo.Marshal(record{strconv.FormatInt(r.ID, 10), r, r.summary()})
}

func fromItem(item dynamo.Item) (Request, error) {
	var r Request
	err := dynamo.Unmarshal(item, &r)
	return r, err
}

// notFound returns the error if a project has no request with an id.
func notFound(project, id string) error {
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
}

func (r Request) eventData(comment string) eventData {
	data := eventData{ID: r.ID, Title: r.Title, Environment: r.Environment, State: r.State, Changes: len(r.Changes),
		Approvals: []int64{}, Reviewers: append([]int64{}, r.Reviewers...), Comment: comment}
	for _, v := range r.Approvals {
		if !v.StruckOut {
			data.Approvals = append(data.Approvals, v.By.ID)
		}
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
		return dynamo.Merge(append(slices.Clone(w.parts), actions.List())...)
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

// counter returns the attribute with the number of requests of a project with a state.
func counter(state State) string { return "number " + string(state) }

// count returns the action that changes the numbers of requests of a project when one changes its state. A state of "" is
// that before its creation, or after its deletion. The condition is that there are not too many open requests.
func (s *Store) count(project string, id int64, from, to State) types.TransactWriteItem {
	open := expression.Name(attributeOpen)
	ids := expression.Value(&types.AttributeValueMemberNS{Value: []string{strconv.FormatInt(id, 10)}})
	var update expression.UpdateBuilder
	if from != "" {
		update = update.Add(expression.Name(counter(from)), expression.Value(-1))
	}
	if to != "" {
		update = update.Add(expression.Name(counter(to)), expression.Value(1))
	}
	builder := expression.NewBuilder()
	switch {
	case from == "":
		update = update.Add(open, ids)
		builder = builder.WithCondition(open.AttributeNotExists().Or(open.Size().LessThan(expression.Value(maxOpen))))
	case to == "" || to.IsFinal():
		update = update.Delete(open, ids)
	}
	expr := dynamo.Build(builder.WithUpdate(update))
	return types.TransactWriteItem{Update: &types.Update{
		TableName:                 &s.table,
		Key:                       projectKey(project),
		UpdateExpression:          expr.Update(),
		ConditionExpression:       expr.Condition(),
		ExpressionAttributeNames:  expr.Names(),
		ExpressionAttributeValues: expr.Values(),
	}}
}

// errTooManyOpen is the 400 if a project has too many requests that are not closed.
func errTooManyOpen(project string) error {
	return apierror.Errorf(apierror.Validation, "The project %q has %d change requests that are not closed, which is the "+
		"maximum. Apply, reject or cancel some first.", project, maxOpen)
}

// create adds a draft with changes, and returns it.
func (s *Store) create(ctx context.Context, next Request) (Request, error) {
	var actions dynamo.Actions
	err := s.log.RetryTransact(ctx, func() ([]types.TransactWriteItem, error) {
		version, err := s.version.Get(ctx)
		if err != nil {
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
		expr := dynamo.Build(expression.NewBuilder().WithCondition(eventlog.ExistsWithLast(hash, old.LastEvent)))
		var actions dynamo.Actions
		actions.Add(actionRequest, types.TransactWriteItem{Delete: &types.Delete{
			TableName:                 &s.table,
			Key:                       key(id),
			ConditionExpression:       expr.Condition(),
			ExpressionAttributeNames:  expr.Names(),
			ExpressionAttributeValues: expr.Values(),
		}})
		actions.Add(actionProject, s.count(project, id, Draft, ""))
		actions.Add(actionEvent, record...)
		return actions.List(), nil
	}, nil)
	if err != nil {
		return fmt.Errorf("delete the change request %d: %w", id, err)
	}
	return nil
}

// numbers are how many requests of a project have each state, and the ids of those that are not closed.
type numbers struct {
	byState map[State]int64
	open    []int64
}

// numbers reads the numbers of projects, by their ids.
func (s *Store) numbers(ctx context.Context, projects []string) (map[string]numbers, error) {
	keys := make([]dynamo.Item, len(projects))
	for i, id := range projects {
		keys[i] = projectKey(id)
	}
	items, err := dynamo.GetAll(ctx, s.client, s.table, keys)
	if err != nil {
		return nil, fmt.Errorf("count change requests: %w", err)
	}
	all := map[string]numbers{}
	for _, item := range items {
		if project, ok := isProject(item); ok {
			all[project] = numbersOf(item)
		}
	}
	return all, nil
}

// numbersOf reads numbers from the item of a project.
func numbersOf(item dynamo.Item) numbers {
	n := numbers{byState: map[State]int64{}}
	for _, state := range States() {
		n.byState[state] = item.Int(counter(state))
	}
	if set, ok := item[attributeOpen].(*types.AttributeValueMemberNS); ok {
		for _, text := range set.Value {
			id, _ := strconv.ParseInt(text, 10, 64) // the service wrote it
			n.open = append(n.open, id)
		}
	}
	slices.Sort(n.open)
	return n
}

// stored reads the numbers of all projects, and the counter of ids.
func (s *Store) stored(ctx context.Context) (all map[string]numbers, highest int64, err error) {
	all = map[string]numbers{}
	for item, err := range dynamo.Scan(ctx, s.client, s.table) {
		if err != nil {
			return nil, 0, fmt.Errorf("count change requests: %w", err)
		}
		if project, ok := isProject(item); ok {
			all[project] = numbersOf(item)
		}
		if item.String(hash) == dynamo.VersionKey {
			highest = item.Int(attributeLastID)
		}
	}
	return all, highest, nil
}

// replaceNumbers returns a function that writes the numbers of a project. It needs no condition: doctor compares again.
func (s *Store) replaceNumbers(project string, n numbers) func(context.Context) error {
	item := projectKey(project)
	for state, number := range n.byState {
		item[counter(state)] = dynamo.N(number)
	}
	if len(n.open) > 0 {
		var open []string
		for _, id := range n.open {
			open = append(open, strconv.FormatInt(id, 10))
		}
		item[attributeOpen] = &types.AttributeValueMemberNS{Value: open}
	}
	return func(ctx context.Context) error {
		_, err := s.client.PutItem(ctx, &dynamodb.PutItemInput{TableName: &s.table, Item: item})
		return err
	}
}

// open returns the summaries of the requests of a project that are not closed, newest first.
func (s *Store) open(ctx context.Context, project string) ([]Request, error) {
	all, err := s.numbers(ctx, []string{project})
	if err != nil {
		return nil, err
	}
	return s.summaries(ctx, all[project].open)
}

// summaries returns the summaries of those of some requests that are not closed, newest first.
func (s *Store) summaries(ctx context.Context, ids []int64) ([]Request, error) {
	keys := make([]dynamo.Item, len(ids))
	for i, id := range ids {
		keys[i] = key(id)
	}
	items, err := dynamo.GetAll(ctx, s.client, s.table, keys, attributeSummary)
	if err != nil {
		return nil, fmt.Errorf("list open change requests: %w", err)
	}
	var all []Request
	for _, item := range items {
		r, err := fromItem(item.Map(attributeSummary))
		if err != nil {
			return nil, fmt.Errorf("list open change requests: %w", err)
		}
		if !r.State.IsFinal() { // closed since the ids were read
			all = append(all, r)
		}
	}
	slices.SortFunc(all, func(a, b Request) int { return int(b.ID - a.ID) })
	return all, nil
}

// walk calls visit with the summaries of all requests of a project, newest first, until it returns false. It reads an
// index, which can lack the changes of the last seconds.
func (s *Store) walk(ctx context.Context, project string, visit func(Request) bool) error {
	expr := dynamo.Build(expression.NewBuilder().
		WithKeyCondition(expression.Key(attributeProject).Equal(expression.Value(project))))
	name, backwards, limit := index, false, int32(firstPage)
	var start map[string]types.AttributeValue
	for {
		page, err := s.client.Query(ctx, &dynamodb.QueryInput{
			TableName:                 &s.table,
			IndexName:                 &name,
			KeyConditionExpression:    expr.KeyCondition(),
			ExpressionAttributeNames:  expr.Names(),
			ExpressionAttributeValues: expr.Values(),
			ScanIndexForward:          &backwards,
			ExclusiveStartKey:         start,
			Limit:                     &limit,
		})
		if err != nil {
			return fmt.Errorf("list change requests: %w", err)
		}
		for _, item := range page.Items {
			r, err := fromItem(dynamo.Item(item).Map(attributeSummary))
			if err != nil {
				return fmt.Errorf("list change requests: %w", err)
			}
			if !visit(r) {
				return nil
			}
		}
		if start = page.LastEvaluatedKey; start == nil {
			return nil
		}
		limit = nextPages
	}
}

// The numbers of requests that the first and the other pages of walk read.
const (
	firstPage = 100
	nextPages = 1000
)

// AddChanges adds changes to the caller's own draft for an environment, or to a new one, and returns it. The kind of its
// error is Validation with places below /body, those of a list if the changes were sent as one, or Conflict.
func (s *Store) AddChanges(ctx context.Context, r Request, changes []Change, places []string) (Request, error) {
	drafts, err := s.open(ctx, r.Project)
	if err != nil {
		return Request{}, err
	}
	for _, d := range drafts {
		if d.State != Draft || d.CreatedBy != r.CreatedBy || d.Environment != r.Environment {
			continue
		}
		next, err := s.update(ctx, r.Project, d.ID, func(old Request) (write, error) {
			if old.State != Draft {
				return write{}, errSent
			}
			return s.added(ctx, old, changes, places)
		}, nil)
		if errors.Is(err, errSent) {
			break
		}
		return next, err
	}
	r.State = Draft
	r.Reached = map[State]time.Time{Draft: r.CreatedAt}
	w, err := s.added(ctx, r, changes, places)
	if err != nil {
		return Request{}, err
	}
	return s.create(ctx, w.next)
}

// errSent means that a draft was sent to review while changes were added to it.
var errSent = errors.New("the draft was sent to review")

// added returns a request with further changes.
func (s *Store) added(ctx context.Context, r Request, changes []Change, places []string) (write, error) {
	all := slices.Clone(r.Changes)
	for _, c := range changes {
		r.LastID++
		c.ID = r.LastID
		all = append(all, c)
	}
	next, err := r.Changed(all, callerOf(ctx), s.log.Now())
	if err != nil {
		return write{}, err
	}
	if next, err = s.checked(ctx, next, places); err != nil {
		return write{}, err
	}
	return write{next: next, event: eventlog.ChangeRequestUpdated}, nil
}

// EditChange replaces a change of a request, or deletes it if replacement is nil, and returns the request. check receives
// the request before; its error is returned.
func (s *Store) EditChange(
	ctx context.Context, project string, id, change int64, replacement *Change, check func(Request) error,
) (Request, error) {
	return s.update(ctx, project, id, func(old Request) (write, error) {
		if err := check(old); err != nil {
			return write{}, err
		}
		i := slices.IndexFunc(old.Changes, func(c Change) bool { return c.ID == change })
		if i < 0 {
			return write{}, apierror.Errorf(apierror.NotFound, "The change request %d has no change with the id %d.", id, change)
		}
		changes := slices.Clone(old.Changes)
		places := make([]string, 0)
		if replacement == nil {
			changes = slices.Delete(changes, i, i+1)
		} else {
			replacement.ID, places = change, []string{"/body"}
			changes[i] = *replacement
		}
		next, err := old.Changed(changes, callerOf(ctx), s.log.Now())
		if err != nil {
			return write{}, err
		}
		if replacement != nil {
			// The changed one is checked last, so that an error has its place.
			order := append(slices.Delete(slices.Clone(changes), i, i+1), changes[i])
			checked := next
			checked.Changes = order
			if checked, err = s.checked(ctx, checked, places); err != nil {
				return write{}, err
			}
			next.Changes[i] = checked.Changes[len(order)-1]
		}
		return write{next: next, event: eventlog.ChangeRequestUpdated}, nil
	}, nil)
}

// checked returns a request whose last changes, which were sent at places, are complete. Its error is that of the direct
// operations for the first of them that is not possible, after the changes before it.
func (s *Store) checked(ctx context.Context, r Request, places []string) (Request, error) {
	if len(r.Changes) > maxChanges {
		return r, apierror.Errorf(apierror.Validation, "A change request has at most %d changes; it would have %d.", maxChanges,
			len(r.Changes))
	}
	r.Changes = slices.Clone(r.Changes)
	first := len(r.Changes) - len(places)
	for i := range places {
		if err := s.complete(ctx, &r, first+i, places[i]); err != nil {
			return r, err
		}
	}
	size := 0
	for _, c := range r.Changes {
		size += len(c.Payload)
	}
	if size > maxSize {
		return r, apierror.Errorf(apierror.Validation,
			"The payloads of a change request have at most %d bytes together; they would have %d.", maxSize, size)
	}
	if len(places) == 0 {
		return r, nil
	}
	err := s.tryOut(ctx, r)
	if err == nil {
		return r, nil
	}
	for i := range places { // which of the changes is it?
		part := r
		part.Changes = r.Changes[:first+i+1]
		if err := s.tryOut(ctx, part); err != nil {
			return r, s.placed(err, r, r.Changes[first+i], places[i])
		}
	}
	return r, err
}

// complete checks a change by itself, and adds what the request stores of it.
func (s *Store) complete(ctx context.Context, r *Request, i int, place string) error {
	c := &r.Changes[i]
	switch {
	case c.IsOfSegment() && c.Feature != "":
		return apierror.Invalid(apierror.At(place+"/feature", "must not be sent with the action %s", c.Action))
	case !c.IsOfSegment() && c.Feature == "":
		return apierror.Invalid(apierror.Missing(place + "/feature"))
	case len(c.Payload) == 0 && c.Action != ArchiveFeature && c.Action != DeleteDependency:
		return apierror.Invalid(apierror.Missing(place + "/payload"))
	}
	p, err := s.actions.read(*c)
	if err != nil {
		return apierror.Below(place+"/payload", err)
	}
	c.Segment = p.segment
	if c.Action == AddStrategy || c.Action == UpdateEnabled {
		c.StrategyID = s.newID()
	}
	part := *r
	part.Changes = []Change{*c}
	w, err := s.world(ctx, part)
	if err != nil {
		return err
	}
	if c.IsOfSegment() {
		if err := checkSegment(ctx, w, p, place); err != nil {
			return err
		}
	} else if f, ok := w.toggles[c.Feature]; !ok || f.Project != r.Project {
		return apierror.Invalid(apierror.At(place+"/feature", "must be the name of a toggle of the project %q", r.Project).
			Sent(c.Feature))
	}
	c.Seen = s.actions.seen(*c, p, r.Environment, w)
	return nil
}

// checkSegment returns a 400 unless the caller sees the segment of a change, and the project that it is moved to.
func checkSegment(ctx context.Context, w world, p payload, place string) error {
	visible, err := access.Visibility(ctx)
	if err != nil {
		return err
	}
	found, ok := w.segments[p.segment]
	if !ok || found.Project != nil && !visible(*found.Project) {
		return apierror.Invalid(apierror.At(place+"/payload/id", "must be the id of a segment").
			SentJSON(strconv.FormatInt(p.segment, 10)))
	}
	if project, ok := p.body.TextOK("project"); ok && !visible(project) {
		return apierror.Invalid(apierror.At(place+"/payload/project", "must be the id of a project").Sent(project))
	}
	return nil
}

// placed returns an error of the transaction of changes as one of the place of a change.
func (s *Store) placed(err error, r Request, c Change, place string) error {
	switch {
	case errors.Is(err, dynamo.ErrSameItem):
		return apierror.Invalid(apierror.At(place, "cannot be in one change request with the others: changes of segments, and "+
			"of strategies or segments that use the same segment or context field, need several requests"))
	case apierror.KindOf(err) != apierror.NotFound:
		return apierror.Below(place+"/payload", err)
	case c.Action == AddDependency:
		return apierror.Invalid(apierror.At(place+"/payload/feature",
			"must be the name of a toggle of the project %q", r.Project))
	default:
		return apierror.Invalid(apierror.At(place+"/payload/id",
			"must be the id of a strategy of the toggle in the environment"))
	}
}

// tryOut plans the transaction that applies a request, and does not run it.
func (s *Store) tryOut(ctx context.Context, r Request) error {
	plan, err := s.plan(planning(ctx), r)
	if err != nil {
		return err
	}
	const own = 4 // actions: the request, the numbers of the project, the event, and the condition on the project
	if n := len(plan.actions) + own; n > dynamo.MaxActions {
		return apierror.Errorf(apierror.Validation, "The change request is too large for one transaction: it needs %d actions, "+
			"and the maximum is %d. Make several change requests.", n, dynamo.MaxActions)
	}
	return nil
}

// SetTitle changes the title of a request. check receives the request; its error is returned.
func (s *Store) SetTitle(
	ctx context.Context, project string, id int64, title string, check func(Request) error,
) error {
	_, err := s.update(ctx, project, id, func(old Request) (write, error) {
		if err := check(old); err != nil || old.Title == title {
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
		if err := check(old); err != nil || slices.Equal(old.Reviewers, reviewers) {
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

// isRequest reports whether an item of the table is a request.
func isRequest(item dynamo.Item) bool {
	return item.Int(attributeID) > 0 && !strings.HasPrefix(item.String(hash), projectPrefix)
}

// List returns all requests, ordered by id.
func (s *Store) List(ctx context.Context) ([]Request, error) {
	var all []Request
	for item, err := range dynamo.Scan(ctx, s.client, s.table) {
		if err == nil && isRequest(item) {
			var r Request
			r, err = fromItem(item)
			all = append(all, r)
		}
		if err != nil {
			return nil, fmt.Errorf("list change requests: %w", err)
		}
	}
	slices.SortFunc(all, func(a, b Request) int { return int(a.ID - b.ID) })
	return all, nil
}
