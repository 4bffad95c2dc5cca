package doctor

import (
	"context"
	"fmt"
	"slices"
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
}

// comparison compares items. Its reads are not a snapshot.
type comparison func(context.Context) (summary string, found []inconsistency, err error)

const (
	// maxNamed is the maximum number of inconsistencies in one finding.
	maxNamed = 5
	// maxRounds limits the repairs of a check: a repair can reveal another inconsistency.
	maxRounds = 3
)

func (d *doctor) consistency(ctx context.Context) {
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
			if len(found) == 0 {
				if repaired != nil {
					summary = "repaired: " + list(repaired) + "; " + summary
				}
				return summary, nil
			}
			if !d.Fix || round > maxRounds {
				return "", d.describe(found)
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

func (d *doctor) describe(found []inconsistency) error {
	advice := fmt.Sprintf("was a table restored? `toggleadmin doctor %s --fix` repairs it, see docs/backup.md",
		d.Installation.Option)
	var texts []string
	for _, f := range found {
		if texts = append(texts, f.text); f.repair == nil {
			advice = "decide which of them is right; doctor repairs the rest with --fix, see docs/backup.md"
		}
	}
	noun := "inconsistencies"
	if len(found) == 1 {
		noun = "inconsistency"
	}
	return problem(fmt.Sprintf("%d %s: %s", len(found), noun, list(texts)), advice)
}

func list(texts []string) string { return strings.Join(texts[:min(len(texts), maxNamed)], "; ") }

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

// highestCreated returns the highest id of a subject that the log has as created by events of the types since a time.
// Deleted subjects, and those that a restored table has lost, are included.
func (d *doctor) highestCreated(ctx context.Context, since *time.Time, created ...eventlog.Type) (highest int64,
	err error) {
	var f eventlog.Filter
	for _, t := range created {
		f.Types = append(f.Types, string(t))
	}
	if since != nil {
		f.From = since.Add(-clockError)
	}
	err = d.Installation.Log(d.Now).All(ctx, f, func(e eventlog.Event) error {
		var id int64
		_, text, _ := strings.Cut(string(e.Subject), ":")
		if _, err := fmt.Sscan(text, &id); err != nil {
			return fmt.Errorf("read the subject of event %d: %w", e.ID, err)
		}
		highest = max(highest, id)
		return nil
	})
	return highest, err
}
