package changerequest

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/dynamo"
)

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
	return dynamo.UpdateItem(s.table, projectKey(project), builder.WithUpdate(update))
}

// errTooManyOpen is the 400 if a project has too many requests that are not closed.
func errTooManyOpen(project string) error {
	return apierror.Errorf(apierror.Validation, "The project %q has %d change requests that are not closed, which is the "+
		"maximum. Apply, reject or cancel some first.", project, maxOpen)
}

// numbers are how many requests of a project have each state, and the ids of those that are not closed.
type numbers struct {
	project string
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
			all[project] = numbersOf(project, item)
		}
	}
	return all, nil
}

// numbersOf reads numbers from the item of a project.
func numbersOf(project string, item dynamo.Item) numbers {
	n := numbers{project: project, byState: map[State]int64{}}
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
			all[project] = numbersOf(project, item)
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
