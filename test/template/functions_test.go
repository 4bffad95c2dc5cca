package template_test

import (
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"toggleadmin/pkg/samtemplate"
)

// TestOneToOne: functions/<name>/main.go, the resource <Name>Function and events/<name>.json come together.
func TestOneToOne(t *testing.T) {
	t.Parallel()
	var resources []string
	for _, function := range mustLoad(t).Functions {
		resources = append(resources, function.Name)
		if want := pascal(function.Name) + "Function"; function.LogicalID != want {
			t.Errorf("functions/%s has the logical id %s, want %s", function.Name, function.LogicalID, want)
		}
	}
	slices.Sort(resources)
	if diff := cmp.Diff(resources, names(t, "functions/*/main.go", filepath.Dir)); diff != "" {
		t.Errorf("template.yaml and functions/:\n%s", diff)
	}
	withoutExtension := func(path string) string { return strings.TrimSuffix(path, ".json") }
	if diff := cmp.Diff(resources, names(t, "events/*.json", withoutExtension)); diff != "" {
		t.Errorf("template.yaml and events/:\n%s", diff)
	}
}

func names(t *testing.T, pattern string, cut func(string) string) []string {
	t.Helper()
	paths, err := filepath.Glob(root + pattern)
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, path := range paths {
		found = append(found, filepath.Base(cut(path)))
	}
	slices.Sort(found)
	return found
}

func pascal(name string) string {
	var out strings.Builder
	for word := range strings.SplitSeq(name, "-") {
		out.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return out.String()
}

// TestPolicies: only named actions on named tables, and each table that a function may use is one that it is told of, and the reverse.
func TestPolicies(t *testing.T) {
	t.Parallel()
	template := mustLoad(t)
	action := regexp.MustCompile(`^dynamodb:[A-Z][A-Za-z]+$`)
	table := regexp.MustCompile(`^arn:aws:dynamodb:[^:]+:[^:]+:table/([A-Za-z]+)(/index/[A-Za-z]+)?$`)
	for _, function := range template.Functions {
		allowed := map[string]bool{}
		for _, statement := range function.Policies {
			for _, name := range statement.Actions {
				if !action.MatchString(name) {
					t.Errorf("%s: the action %s is no single DynamoDB action", function.Name, name)
				}
			}
			for _, resource := range statement.Resources {
				match := table.FindStringSubmatch(resource)
				if match == nil {
					t.Errorf("%s: the resource %s is no single table or index", function.Name, resource)
					continue
				}
				allowed[match[1]] = true
			}
		}
		told := map[string]bool{}
		for name, value := range function.Environment {
			if strings.HasSuffix(name, "_TABLE") {
				told[value] = true
				if name != variable(value) {
					t.Errorf("%s: the variable of %s is %s, want %s", function.Name, value, name, variable(value))
				}
			}
		}
		if diff := cmp.Diff(told, allowed); diff != "" {
			t.Errorf("%s: the tables of its environment and of its policy:\n%s", function.Name, diff)
		}
		if _, ok := function.Environment["DYNAMODB_ENDPOINT"]; ok != (len(allowed) > 0) {
			t.Errorf("%s: DYNAMODB_ENDPOINT is for functions with tables, and for them only", function.Name)
		}
	}
}

// variable gives the environment variable of a table: FeatureTypes → FEATURE_TYPES_TABLE.
func variable(table string) string {
	return strings.ToUpper(regexp.MustCompile(`([a-z])([A-Z])`).ReplaceAllString(table, "${1}_${2}")) + "_TABLE"
}

// TestNoWildcards: no statement anywhere in the template, roles included, allows everything.
func TestNoWildcards(t *testing.T) {
	t.Parallel()
	for _, resource := range mustLoad(t).Resources {
		walk(resource.Properties, func(key string, value any) {
			if (key == "Resource" || key == "Action") && value == "*" {
				t.Errorf("%s: %s is *", resource.LogicalID, key)
			}
		})
	}
}

// walk visits every scalar with the key under which it stands.
func walk(value any, visit func(key string, value any)) {
	var step func(key string, value any)
	step = func(key string, value any) {
		switch value := value.(type) {
		case map[string]any:
			for _, name := range slices.Sorted(maps.Keys(value)) {
				step(name, value[name])
			}
		case []any:
			for _, item := range value {
				step(key, item)
			}
		default:
			visit(key, value)
		}
	}
	step("", value)
}

// TestFunctionSettings: built by Go, JSON logs in a group of its own that forgets, no fixed names, and behind the API an end before the
// gateway's.
func TestFunctionSettings(t *testing.T) {
	t.Parallel()
	template := mustLoad(t)
	groups := map[string]bool{}
	for _, group := range ofType(template, "AWS::Logs::LogGroup") {
		groups[group.LogicalID] = true
		if days, ok := group.Properties["RetentionInDays"].(string); !ok || days == "" || days == "0" {
			t.Errorf("%s keeps its logs for ever", group.LogicalID)
		}
	}
	used := map[string]bool{}
	for _, function := range ofType(template, "AWS::Serverless::Function") {
		group, ok := at(function.Properties, "LoggingConfig", "LogGroup").(string)
		if !ok || !groups[group] || used[group] {
			t.Errorf("%s has no log group of its own", function.LogicalID)
		}
		used[group] = true
		if format := at(function.Properties, "LoggingConfig", "LogFormat"); format != "JSON" {
			t.Errorf("%s logs as %v", function.LogicalID, format)
		}
		if method := function.Metadata["BuildMethod"]; method != "go1.x" {
			t.Errorf("%s is built by %v", function.LogicalID, method)
		}
	}
	const gateway = 29 * time.Second
	for _, function := range template.Functions {
		if function.Timeout >= gateway && behindAPI(template, function.LogicalID) || function.Name == "authorizer" && function.Timeout > 8*time.Second {
			t.Errorf("%s may take %s", function.Name, function.Timeout)
		}
	}
}

// behindAPI says whether requests lead to a function, its authorizer included.
func behindAPI(template *samtemplate.Template, function string) bool {
	return function == template.API.Authorizer.Function ||
		slices.ContainsFunc(template.API.Routes, func(r samtemplate.Route) bool { return r.Function == function })
}

// TestTables: kept when the stack goes, restorable, without fixed names, named in the outputs; only Traffic forgets.
func TestTables(t *testing.T) {
	t.Parallel()
	template := mustLoad(t)
	for _, table := range ofType(template, "AWS::DynamoDB::Table") {
		if table.DeletionPolicy != "Retain" || table.UpdateReplacePolicy != "Retain" {
			t.Errorf("%s is not kept", table.LogicalID)
		}
		if at(table.Properties, "PointInTimeRecoverySpecification", "PointInTimeRecoveryEnabled") != true {
			t.Errorf("%s has no point-in-time recovery", table.LogicalID)
		}
	}
	expiring := map[string]string{"Traffic": "expiresAt"}
	for _, table := range template.Tables {
		if table.TTLAttribute != expiring[table.LogicalID] {
			t.Errorf("%s expires by %q, want %q", table.LogicalID, table.TTLAttribute, expiring[table.LogicalID])
		}
		if template.Outputs[table.LogicalID+"Table"] != table.Name {
			t.Errorf("%s is not in the outputs", table.LogicalID)
		}
	}
}

// TestArchitectures: one parameter decides for all functions.
func TestArchitectures(t *testing.T) {
	t.Parallel()
	for _, architecture := range []string{"arm64", "x86_64"} {
		template, err := samtemplate.Load(root+"template.yaml", samtemplate.Settings{Parameters: map[string]string{"Architecture": architecture}})
		if err != nil {
			t.Fatal(err)
		}
		for _, function := range ofType(template, "AWS::Serverless::Function") {
			if diff := cmp.Diff([]any{architecture}, function.Properties["Architectures"]); diff != "" {
				t.Errorf("%s:\n%s", function.LogicalID, diff)
			}
		}
	}
}
