package doctor

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/operator/exitstatus"
	"toggleadmin/pkg/operator/installation"
	"toggleadmin/pkg/platform/consistency"
	"toggleadmin/pkg/samtemplate"
)

// The properties that parameters of the stack decide.
const (
	recovery   = "point-in-time recovery"
	protection = "deletion protection"
)

// timeToLive begins the property of a table whose items expire. The name of the attribute follows.
const timeToLive = "time to live "

// declared returns the keys, the indexes and the stream that template.yaml declares for a table, in the form of layout.
func declared(table samtemplate.Table) []string {
	key := func(attributes ...samtemplate.Attribute) (text string) {
		for _, a := range attributes {
			if a.Name != "" {
				text += fmt.Sprintf(" %s:%s", a.Name, a.Type)
			}
		}
		return text
	}
	properties := []string{"key" + key(table.Hash, table.Range)}
	for _, i := range table.Indexes {
		properties = append(properties, "index "+i.Name+key(i.Hash, i.Range))
	}
	if table.StreamViewType != "" {
		properties = append(properties, "stream "+table.StreamViewType)
	}
	return properties
}

func (d *doctor) tables(ctx context.Context) {
	template, err := installation.Template()
	if err != nil {
		d.run(ctx, "tables", func(context.Context) (string, error) { return "", err })
		return
	}
	for _, table := range template.Tables {
		d.run(ctx, "table "+table.Name, func(ctx context.Context) (string, error) {
			return checkTable(ctx, d.Installation, table.Name, d.required(table))
		})
	}
	d.run(ctx, "other tables", d.otherTables)
}

// required returns the properties that a table must have.
func (d *doctor) required(table samtemplate.Table) []string {
	properties := declared(table)
	if table.TTLAttribute != "" {
		properties = append(properties, timeToLive+table.TTLAttribute)
	}
	if d.Installation.Stack.Parameters["PointInTimeRecovery"] == "true" {
		properties = append(properties, recovery)
	}
	if d.Installation.Stack.Parameters["DeletionProtection"] == "true" {
		properties = append(properties, protection)
	}
	return properties
}

// RequireTables returns an error with the status Uninitialized if a table does not have the keys, indexes and streams
// that the service requires.
func RequireTables(ctx context.Context, i *installation.Installation) error {
	template, err := installation.Template()
	if err != nil {
		return err
	}
	for _, table := range template.Tables {
		_, err := checkTable(ctx, i, table.Name, declared(table))
		if found, ok := errors.AsType[*problemError](err); ok {
			return exitstatus.Errorf(exitstatus.Uninitialized, "the table %s of %s cannot be used: %s: %s", table.Name,
				i.Name, found.detail, found.advice)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// checkTable checks that a table has properties. It finds all that are missing: a restored table has no streams, time to
// live, recovery and protection.
func checkTable(ctx context.Context, i *installation.Installation, id string, required []string) (string, error) {
	name := i.Tables[id]
	table, err := describeTable(ctx, i.Client, name)
	if err != nil {
		return "", err
	}
	if table.TableStatus != types.TableStatusActive {
		return "", problem(fmt.Sprintf("%s is %s", name, table.TableStatus), "wait if a deployment or a restore is running")
	}
	actual := layout(table)
	settings, err := settings(ctx, i.Client, name, required)
	if err != nil {
		return "", err
	}
	actual = append(actual, settings...)
	missing := slices.DeleteFunc(slices.Clone(required),
		func(property string) bool { return slices.Contains(actual, property) })
	if len(missing) > 0 {
		return "", problem(fmt.Sprintf("%s lacks %s; it has %s", name, strings.Join(missing, ", "),
			strings.Join(actual, ", ")), adviceFor(missing, name))
	}
	detail := strings.Join(required, ", ")
	if name != id {
		detail = name + ": " + detail
	}
	return detail, nil
}

// settings returns the properties of a table that DescribeTable does not return, as far as they are required.
func settings(ctx context.Context, client *dynamodb.Client, name string, required []string) (properties []string,
	err error) {
	if slices.ContainsFunc(required, func(p string) bool { return strings.HasPrefix(p, timeToLive) }) {
		out, err := client.DescribeTimeToLive(ctx, &dynamodb.DescribeTimeToLiveInput{TableName: &name})
		if err != nil {
			return nil, fmt.Errorf("describe the time to live of the table %s: %w", name, err)
		}
		if ttl := out.TimeToLiveDescription; ttl != nil && (ttl.TimeToLiveStatus == types.TimeToLiveStatusEnabled ||
			ttl.TimeToLiveStatus == types.TimeToLiveStatusEnabling) {
			properties = append(properties, timeToLive+aws.ToString(ttl.AttributeName))
		}
	}
	if slices.Contains(required, recovery) {
		out, err := client.DescribeContinuousBackups(ctx, &dynamodb.DescribeContinuousBackupsInput{TableName: &name})
		if err != nil {
			return nil, fmt.Errorf("describe the backups of the table %s: %w", name, err)
		}
		if b := out.ContinuousBackupsDescription; b != nil && b.PointInTimeRecoveryDescription != nil &&
			b.PointInTimeRecoveryDescription.PointInTimeRecoveryStatus == types.PointInTimeRecoveryStatusEnabled {
			properties = append(properties, recovery)
		}
	}
	return properties, nil
}

// adviceFor returns how a table gets the properties that it lacks. A deployment changes only what differs between two
// templates, not what the table has.
func adviceFor(missing []string, table string) string {
	var commands []string
	for _, property := range missing {
		switch {
		case property == recovery:
			commands = append(commands, "`aws dynamodb update-continuous-backups --table-name "+table+
				" --point-in-time-recovery-specification PointInTimeRecoveryEnabled=true`")
		case property == protection:
			commands = append(commands, "`aws dynamodb update-table --table-name "+table+" --deletion-protection-enabled`")
		case strings.HasPrefix(property, timeToLive):
			commands = append(commands, "`aws dynamodb update-time-to-live --table-name "+table+
				" --time-to-live-specification Enabled=true,AttributeName=expiresAt`")
		}
	}
	advice := "if the table was restored, see docs/backup.md"
	if commands != nil {
		advice += "; enable with " + strings.Join(commands, ", ")
	}
	if len(commands) < len(missing) {
		advice += "; deploy the stack again, which creates indexes and streams"
	}
	return advice
}

// otherTables looks for tables with the name of the stack that it does not have, such as those of a deployment that was
// rolled back. Nothing uses them, and they can contain names and e-mail addresses.
func (d *doctor) otherTables(ctx context.Context) (string, error) {
	i := d.Installation
	if i.IsLocal() {
		return "tables of other stacks exist on AWS only", errSkip
	}
	named := regexp.MustCompile("^" + regexp.QuoteMeta(i.Stack.Name) + "-[A-Za-z0-9]+-[A-Z0-9]{8,}$")
	known := slices.Collect(maps.Values(i.Tables))
	var others []string
	pages := dynamodb.NewListTablesPaginator(i.Client, &dynamodb.ListTablesInput{})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return "", fmt.Errorf("list the tables: %w", err)
		}
		for _, name := range page.TableNames {
			if named.MatchString(name) && !slices.Contains(known, name) {
				others = append(others, name)
			}
		}
	}
	if len(others) > 0 {
		return "", problem("tables named like those of the stack, which it does not have: "+consistency.List(others),
			"they are left over from a deployment that was rolled back, or from a deleted stack of this name: copy what you "+
				"need (docs/backup.md), then delete them (aws dynamodb delete-table; before that, update-table "+
				"--no-deletion-protection-enabled)")
	}
	return "none has a name of the stack", nil
}

func describeTable(ctx context.Context, client *dynamodb.Client, name string) (*types.TableDescription, error) {
	out, err := client.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: &name})
	if _, missing := errors.AsType[*types.ResourceNotFoundException](err); missing {
		return nil, problem("there is no table "+name,
			"restore it under this name (see docs/backup.md), or deploy a new stack")
	}
	if err != nil {
		return nil, fmt.Errorf("describe the table %s: %w", name, err)
	}
	return out.Table, nil
}

// layout returns the properties of a table that DescribeTable returns.
func layout(t *types.TableDescription) []string {
	attributes := map[string]string{}
	for _, a := range t.AttributeDefinitions {
		attributes[aws.ToString(a.AttributeName)] = string(a.AttributeType)
	}
	key := func(schema []types.KeySchemaElement) (text string) {
		for _, kind := range []types.KeyType{types.KeyTypeHash, types.KeyTypeRange} {
			for _, k := range schema {
				if name := aws.ToString(k.AttributeName); k.KeyType == kind {
					text += fmt.Sprintf(" %s:%s", name, attributes[name])
				}
			}
		}
		return text
	}
	properties := []string{"key" + key(t.KeySchema)}
	for _, i := range t.GlobalSecondaryIndexes {
		property := "index " + aws.ToString(i.IndexName) + key(i.KeySchema)
		if status := i.IndexStatus; status != "" && status != types.IndexStatusActive { // local engines report no status
			property += fmt.Sprintf(" (%s)", status)
		}
		properties = append(properties, property)
	}
	if s := t.StreamSpecification; s != nil && aws.ToBool(s.StreamEnabled) {
		properties = append(properties, "stream "+string(s.StreamViewType))
	}
	if aws.ToBool(t.DeletionProtectionEnabled) {
		properties = append(properties, protection)
	}
	return properties
}
