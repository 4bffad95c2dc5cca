package doctor

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/api/eventlog"
	"toggleadmin/pkg/platform/dynamo"
)

// inconsistency is a difference between items that are otherwise written by one transaction. A restore of a table, or
// of single items, causes it.
type inconsistency struct {
	text   string
	repair func(context.Context) error // does nothing if the items have changed; nil: an operator must decide
	advice string                      // what the operator can do, without a repair
}

// comparison compares items. Its reads are not a snapshot.
type comparison func(context.Context) (summary string, found []inconsistency, err error)

const (
	// maxNamed is the maximum number of inconsistencies in one finding.
	maxNamed = 20
	// maxRounds limits the repairs of a check: a repair can reveal another inconsistency.
	maxRounds = 3
)

func (d *doctor) consistency(ctx context.Context) {
	// first the comparisons with the event log, because the others keep what they find in the tables
	d.run(ctx, "recorded accounts", d.consistent(d.recordedAccounts))
	d.run(ctx, "recorded tokens", d.consistent(d.recordedTokens))
	d.run(ctx, "removed names", d.consistent(d.removedNames))
	d.run(ctx, "context fields", d.consistent(d.fields))
	d.run(ctx, "accounts", d.consistent(d.accounts))
	d.run(ctx, "tokens", d.consistent(d.tokens))
}

// consistent returns the check of a comparison. With Config.Fix it repairs what it finds.
func (d *doctor) consistent(compare comparison) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		var repaired []string
		for round := 1; ; round++ {
			summary, found, err := twice(ctx, compare)
			if err != nil {
				return "", err
			}
			done := ""
			if repaired != nil {
				done = "repaired: " + list(repaired) + "; "
			}
			if len(found) == 0 {
				return done + summary, nil
			}
			repairable := slices.ContainsFunc(found, func(f inconsistency) bool { return f.repair != nil })
			if !d.Fix || round > maxRounds || !repairable {
				return "", d.describe(done, found)
			}
			for _, f := range found {
				if f.repair == nil {
					continue
				}
				if err := f.repair(ctx); err != nil {
					return "", fmt.Errorf("repair that %s: %w", f.text, err)
				}
				repaired = append(repaired, f.text)
			}
		}
	}
}

// twice returns what two comparisons in a row find.
func twice(ctx context.Context, compare comparison) (summary string, found []inconsistency, err error) {
	summary, first, err := compare(ctx)
	if err != nil || len(first) == 0 {
		return summary, nil, err
	}
	summary, found, err = compare(ctx)
	return summary, slices.DeleteFunc(found, func(i inconsistency) bool {
		return !slices.ContainsFunc(first, func(f inconsistency) bool { return f.text == i.text })
	}), err
}

// describe returns the problem that inconsistencies are, after the description of what was done.
func (d *doctor) describe(done string, found []inconsistency) error {
	var texts, advice []string
	if slices.ContainsFunc(found, func(f inconsistency) bool { return f.repair != nil }) {
		advice = append(advice, fmt.Sprintf("was a table restored? `toggleadmin doctor %s --fix` repairs it, see "+
			"docs/backup.md", d.Installation.Option))
	}
	for _, f := range found {
		texts = append(texts, f.text)
		if f.repair == nil && !slices.Contains(advice, f.advice) {
			advice = append(advice, f.advice)
		}
	}
	noun := "inconsistencies"
	if len(found) == 1 {
		noun = "inconsistency"
	}
	return problem(fmt.Sprintf("%s%d %s: %s", done, len(found), noun, list(texts)), list(advice))
}

func list(texts []string) string {
	if more := len(texts) - maxNamed; more > 0 {
		texts = append(slices.Clone(texts[:maxNamed]), fmt.Sprintf("and %d more", more))
	}
	return strings.Join(texts, "; ")
}

// replace returns the repair that sets an attribute, if it still has its old value, to the next one. nil: no attribute.
func (d *doctor) replace(
	table string, key dynamo.Item, path []string, old, next types.AttributeValue,
) func(context.Context) error {
	names, parts := map[string]string{}, make([]string, len(path))
	for i, name := range path {
		parts[i] = fmt.Sprint("#p", i)
		names[parts[i]] = name
	}
	at, values := strings.Join(parts, "."), dynamo.Item{}
	condition, update := "attribute_not_exists("+at+")", "REMOVE "+at
	if old != nil {
		condition, values[":old"] = at+" = :old", old
	}
	if next != nil {
		update, values[":next"] = "SET "+at+" = :next", next
	}
	return func(ctx context.Context) error {
		_, err := d.Installation.Client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
			TableName: &table, Key: key, ConditionExpression: &condition, UpdateExpression: &update,
			ExpressionAttributeNames: names, ExpressionAttributeValues: values,
		})
		return unlessChanged(err)
	}
}

// remove returns the repair that deletes an item, if an attribute still has its value.
func (d *doctor) remove(table string, key dynamo.Item, attribute string,
	value types.AttributeValue) func(context.Context) error {
	return func(ctx context.Context) error {
		_, err := d.Installation.Client.DeleteItem(ctx, &dynamodb.DeleteItemInput{
			TableName: &table, Key: key, ConditionExpression: aws.String("#attribute = :value"),
			ExpressionAttributeNames:  map[string]string{"#attribute": attribute},
			ExpressionAttributeValues: dynamo.Item{":value": value},
		})
		return unlessChanged(err)
	}
}

// unlessChanged ignores that the condition of a repair failed: the next comparison finds what is left.
func unlessChanged(err error) error {
	if dynamo.FailedCondition(err) {
		return nil
	}
	return err
}

// clockError is more than the clocks of the functions and their writes can differ.
const clockError = time.Hour

// eventsSince returns the events of some types since the creation of a subject, oldest first: those of all subjects that
// were created later, even if they were deleted or a restored table has lost them. If the creation of the subject is not
// in the log, or its clock was fast, these are all events of the types.
func (d *doctor) eventsSince(ctx context.Context, s eventlog.Subject, some ...eventlog.Type) (all []eventlog.Event,
	err error) {
	var f eventlog.Filter
	for _, t := range some {
		f.Types = append(f.Types, string(t))
	}
	log := d.Installation.Log(d.Now)
	var created time.Time
	err = log.All(ctx, eventlog.Filter{Subjects: []string{string(s)}, Types: f.Types}, func(e eventlog.Event) error {
		if created.IsZero() {
			created = e.CreatedAt()
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if !created.IsZero() && !created.After(d.Now()) {
		f.From = created.Add(-clockError)
	}
	err = log.All(ctx, f, func(e eventlog.Event) error {
		all = append(all, e)
		return nil
	})
	return all, err
}

// idOf returns the id in the subject of an event about an account or a token.
func idOf(e eventlog.Event) (id int64, err error) {
	_, text, _ := strings.Cut(string(e.Subject), ":")
	if id, err = strconv.ParseInt(text, 10, 64); err != nil {
		return 0, fmt.Errorf("read the subject of event %d: %w", e.ID, err)
	}
	return id, nil
}
