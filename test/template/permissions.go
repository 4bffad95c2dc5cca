package template

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"toggleadmin/pkg/samtemplate"
)

// inTables is what each function does in DynamoDB, by its folder. test/usage holds the template against what they really do.
func inTables() map[string][]string {
	return map[string][]string{
		"authorizer": {
			"dynamodb:BatchGetItem on table PersonalAccessTokens", "dynamodb:BatchGetItem on table Users", "dynamodb:GetItem on table ApiTokens",
			"dynamodb:UpdateItem on table PersonalAccessTokens",
		},
		"create-service-account-token": {
			"dynamodb:GetItem on table PersonalAccessTokens", "dynamodb:PutItem on table PersonalAccessTokens",
			"dynamodb:UpdateItem on table PersonalAccessTokens", "dynamodb:UpdateItem on table Users",
		},
		"delete-own-token": {
			"dynamodb:GetItem on table PersonalAccessTokens", "dynamodb:DeleteItem on table PersonalAccessTokens",
			"dynamodb:UpdateItem on table Users",
		},
		"get-traffic-usage":   {"dynamodb:Query on table Traffic"},
		"list-context-fields": {"dynamodb:Scan on table ContextFields"},
		"list-feature-types":  {"dynamodb:Scan on table FeatureTypes"},
		"not-found":           nil,
		"record-traffic":      {"dynamodb:PutItem on table Traffic", "dynamodb:UpdateItem on table Traffic"},
		"reevaluate-staleness": {
			"dynamodb:GetItem on table FeatureTypes", "dynamodb:Query on index staleness of table Features",
			"dynamodb:UpdateItem on table Features",
		},
		"sweep-staleness": {
			"dynamodb:Scan on table FeatureTypes", "dynamodb:Query on index staleness of table Features",
			"dynamodb:UpdateItem on table Features",
		},
		"update-feature-type-lifetime": {"dynamodb:UpdateItem on table FeatureTypes"},
		"update-feedback":              {"dynamodb:UpdateItem on table Feedback", "dynamodb:GetItem on table Users"},
	}
}

// checkPermissions: each function may do what it needs, and nothing else.
func checkPermissions(c *checker) {
	tables := inTables()
	for i := range c.t.Functions {
		f := &c.t.Functions[i]
		needed, known := tables[f.Name]
		if !known {
			c.problem("function %s: nothing here says what it needs", f.Name)
		}
		got, want := map[string]bool{}, map[string]bool{}
		for _, permission := range append(needed, c.beside(f)...) {
			want[permission] = true
		}
		for _, s := range slices.Concat(f.Policies, c.attached(f.Role)) {
			for _, action := range s.Actions {
				for _, resource := range s.Resources {
					permission := action + " on " + c.place(resource)
					if s.Effect != "Allow" || got[permission] {
						c.problem("function %s: %s is refused, or granted twice", f.Name, permission)
					}
					got[permission] = true
				}
			}
		}
		c.compare("function "+f.Name, got, want)
		c.tablesKnown(f, got)
	}
}

// attached returns the statements of the policies that are attached to a role.
func (c *checker) attached(role string) (statements []samtemplate.Statement) {
	for _, policy := range c.ofType("AWS::IAM::Policy") {
		if !slices.Contains(texts(policy.Properties["Roles"]), role) {
			continue
		}
		for _, s := range items(At(policy.Properties, "PolicyDocument", "Statement")) {
			statements = append(statements, samtemplate.Statement{
				Effect: fmt.Sprint(At(s, "Effect")), Actions: texts(At(s, "Action")), Resources: texts(At(s, "Resource")),
			})
		}
	}
	return statements
}

func (c *checker) compare(who string, got, want map[string]bool) {
	for _, permission := range slices.Sorted(maps.Keys(want)) {
		if !got[permission] {
			c.problem("%s: the permission %s is missing", who, permission)
		}
	}
	for _, permission := range slices.Sorted(maps.Keys(got)) {
		if !want[permission] {
			c.problem("%s: the permission %s is not needed", who, permission)
		}
	}
}

// beside is what a function's role needs beside its tables, as the template itself says.
func (c *checker) beside(f *samtemplate.Function) []string {
	properties := c.resource(f.LogicalID, "AWS::Serverless::Function")
	group := fmt.Sprint(At(properties, "LoggingConfig", "LogGroup"))
	needed := []string{"logs:CreateLogStream on log group " + group, "logs:PutLogEvents on log group " + group}
	if At(properties, "Tracing") == "Active" {
		needed = append(needed, "xray:PutTraceSegments on *", "xray:PutTelemetryRecords on *")
	}
	for _, s := range f.Streams {
		for _, action := range []string{"DescribeStream", "GetRecords", "GetShardIterator"} {
			needed = append(needed, "dynamodb:"+action+" on stream of table "+s.Table)
		}
		needed = append(needed, "dynamodb:ListStreams on streams of table "+s.Table)
		if s.OnFailure != "" {
			needed = append(needed, "sqs:SendMessage on queue "+s.OnFailure)
		}
	}
	if f.AsyncOnFailure != "" {
		needed = append(needed, "sqs:SendMessage on queue "+f.AsyncOnFailure)
	}
	return needed
}

// form is how an ARN is said in words.
type form struct {
	arn   *regexp.Regexp
	words string
}

func forms() []form {
	return []form{
		{regexp.MustCompile(`^arn:aws:dynamodb:[^:*]+:[^:*]+:table/([A-Za-z]+)$`), "table $1"},
		{regexp.MustCompile(`^arn:aws:dynamodb:[^:*]+:[^:*]+:table/([A-Za-z]+)/index/([A-Za-z]+)$`), "index $2 of table $1"},
		{regexp.MustCompile(`^arn:aws:dynamodb:[^:*]+:[^:*]+:table/([A-Za-z]+)/stream/\*$`), "streams of table $1"},
		{regexp.MustCompile(`^arn:aws:dynamodb:[^:*]+:[^:*]+:table/([A-Za-z]+)/stream/[^*]+$`), "stream of table $1"},
		{regexp.MustCompile(`^arn:aws:logs:[^:*]+:[^:*]+:log-group:([A-Za-z]+):\*$`), "log group $1"},
		{regexp.MustCompile(`^arn:aws:sqs:[^:*]+:[^:*]+:([A-Za-z]+)$`), "queue $1"},
		{regexp.MustCompile(`^arn:aws:lambda:[^:*]+:[^:*]+:function:([A-Za-z]+):live$`), "alias of $1"},
	}
}

// place says in words what an ARN names; what is no ARN of a known form stays as it is.
func (c *checker) place(arn string) string {
	for _, f := range c.forms {
		if f.arn.MatchString(arn) {
			return f.arn.ReplaceAllString(arn, f.words)
		}
	}
	return arn
}

// tablesKnown: a function is told of the tables that it may use, under their names, and of no other.
func (c *checker) tablesKnown(f *samtemplate.Function, granted map[string]bool) {
	allowed, told := map[string]bool{}, map[string]bool{}
	for permission := range granted {
		if match := regexp.MustCompile(` on (?:index \w+ of )?table (\w+)$`).FindStringSubmatch(permission); match != nil {
			allowed[match[1]] = true
		}
	}
	for name, value := range f.Environment {
		if strings.HasSuffix(name, "_TABLE") {
			told[value] = true
			c.want("function "+f.Name+": the variable of the table "+value, name, variable(value))
		}
	}
	if !maps.Equal(told, allowed) {
		c.problem("function %s is told of the tables %v and may use %v", f.Name, slices.Sorted(maps.Keys(told)), slices.Sorted(maps.Keys(allowed)))
	}
	if _, ok := f.Environment["DYNAMODB_ENDPOINT"]; ok != (len(allowed) > 0) {
		c.problem("function %s: DYNAMODB_ENDPOINT is for functions with tables, and for them only", f.Name)
	}
}

// variable gives the environment variable of a table: FeatureTypes → FEATURE_TYPES_TABLE.
func variable(table string) string {
	return strings.ToUpper(regexp.MustCompile(`([a-z])([A-Z])`).ReplaceAllString(table, "${1}_${2}")) + "_TABLE"
}
