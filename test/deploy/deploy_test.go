package deploy_test

import (
	"maps"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"toggleadmin/test/helper/assert"
)

// TestDeploy creates a stack with sam deploy, updates it with `make deploy` and deletes it.
func TestDeploy(t *testing.T) { //nolint:paralleltest // steps
	e := start(t)
	var s *stack
	started := time.Now()
	step(t, "sam deploy", func(t *testing.T) { s = e.deploy(t, deployment{environment: "default", plain: true}) })
	step(t, "seed", func(t *testing.T) { s.seed(t) })
	s.checkAll(t)
	step(t, "differences", func(t *testing.T) { s.runScripts(t, "testdata/differences") })
	step(t, "no function logged an error", func(t *testing.T) {
		if logged := s.loggedErrors(t, started); logged != "" {
			t.Error(logged)
		}
	})
	step(t, "make deploy, one parameter and one role changed", func(t *testing.T) { update(t, s) })
	step(t, "make delete", func(t *testing.T) { remove(t, s) })
}

// update lowers the number of tokens of an account and denies a function the permissions of its role: the other tests
// mean something only if the emulator enforces policies. Package test/e2e checks that each permission is granted that
// a function uses.
func update(t *testing.T, s *stack) {
	t.Helper()
	requests, started := s.counted(t), time.Now()
	updated := s.deploy(t, deployment{
		environment: "default", name: s.name,
		parameters: map[string]string{"Stage": "dev", "MaxTokensPerAccount": "3", "LogRetentionDays": "14"},
		change: func(template *document) {
			const path = "Resources.FeatureTypeReaderRole.Properties.Policies.0.PolicyDocument.Statement"
			allowed, _ := at(template.root, path).([]any)
			denied := map[string]any{"Effect": "Deny", "Action": []any{"dynamodb:*"}, "Resource": []any{"*"}}
			template.set(t, path, append(allowed, denied))
		},
	})
	if !strings.Contains(updated.output, "CreatePatFunction works") {
		t.Errorf("create-pat was not invoked:\n%s", updated.output)
	}
	if got := updated.counted(t); got != requests || !maps.Equal(updated.Tables, s.Tables) {
		t.Errorf("%d requests were counted, and now %d; the tables were %v, and are %v", requests, got, s.Tables, updated.Tables)
	}
	updated.credentials = s.credentials
	updated.runScripts(t, "testdata/updated")
	if logged := updated.loggedErrors(t, started); !regexp.MustCompile("Logs: .*AccessDenied").MatchString(logged) {
		t.Errorf("without permissions, the functions have logged %s", logged)
	}
}

// remove deletes the stack. What the template retains remains: the tables with their items.
func remove(t *testing.T, s *stack) {
	t.Helper()
	s.delete(t)
	last := map[string]types.ResourceStatus{}
	pages := cloudformation.NewDescribeStackEventsPaginator(cloudformation.NewFromConfig(s.config),
		&cloudformation.DescribeStackEventsInput{StackName: &s.id})
	for pages.HasMorePages() {
		page, err := pages.NextPage(t.Context())
		assert.OK(t, err)
		for _, event := range page.StackEvents { // the newest first
			if id := aws.ToString(event.LogicalResourceId); last[id] == "" {
				last[id] = event.ResourceStatus
			}
		}
	}
	resources, _ := s.template.root["Resources"].(map[string]any)
	for id, resource := range resources {
		want := types.ResourceStatusDeleteComplete
		if at(resource, "DeletionPolicy") == "RetainExceptOnCreate" {
			want = types.ResourceStatusDeleteSkipped
		}
		if s.physical[id] != "" && last[id] != want {
			t.Errorf("%s is %s, want %s", id, last[id], want)
		}
	}
	if s.counted(t) == 0 {
		t.Error("the traffic is deleted")
	}
	if get(s.baseURL+"/api/admin/context") == http.StatusUnauthorized {
		t.Error("the API still responds")
	}
}

// TestOperator runs the scripts of cmd/toggleadmin that need a stack.
func TestOperator(t *testing.T) { //nolint:paralleltest // one emulator
	e := start(t)
	var s *stack
	step(t, "make deploy", func(t *testing.T) {
		s = e.deploy(t, deployment{environment: "default", name: "operated", parameters: map[string]string{
			"Monitoring": "alarms-and-dashboard", "AlarmEmail": "alarms@example.com",
		}})
	})
	step(t, "toggleadmin", func(t *testing.T) {
		cmd := exec.CommandContext(t.Context(), "go", "test", "-count=1", "-v", "-run", "^(TestStack|TestEmulator)$", ".")
		cmd.Dir = absolute(t, "cmd/toggleadmin")
		cmd.Env = slices.DeleteFunc(os.Environ(), func(pair string) bool { return strings.HasPrefix(pair, "AWS_") })
		cmd.Env = append(append(cmd.Env, e.awsVariables()...), "STACK="+s.name, "API_URL="+s.baseURL)
		output, err := cmd.CombinedOutput()
		if err != nil || !strings.Contains(string(output), "--- PASS: TestStack/operator") ||
			strings.Contains(string(output), "--- SKIP") {
			t.Errorf("%v\n%s", err, output)
		}
	})
}

// TestRecover deploys the environment prod, with protected tables, for the first time, which fails, and again after
// `make recover`.
func TestRecover(t *testing.T) { //nolint:paralleltest // one emulator
	e := start(t)
	stacks, db := cloudformation.NewFromConfig(e.config), dynamodb.NewFromConfig(e.config)
	tables := func(t *testing.T) int {
		t.Helper()
		listed, err := db.ListTables(t.Context(), &dynamodb.ListTablesInput{})
		assert.OK(t, err)
		return len(listed.TableNames)
	}
	deploy := func(t *testing.T, change func(*document)) error {
		t.Helper()
		_, err := e.tryDeploy(t, deployment{environment: "prod", change: func(template *document) {
			template.set(t, "Parameters.AlarmEmail.Default", "alarms@example.com")
			change(template)
		}})
		return err
	}
	makeRecover := func() (string, error) {
		return e.run(absolute(t, "."), "python", "scripts/stack.py", "recover", "prod")
	}
	e.createResource(t, webhookSecret)
	step(t, "the first deployment fails", func(t *testing.T) {
		failure := deploy(t, func(template *document) {
			template.set(t, "Resources.Taken", map[string]any{
				"Type": "AWS::SSM::Parameter", "DependsOn": "Users",
				"Properties": map[string]any{"Name": "/second/webhook", "Type": "String", "Value": "another"},
			})
		})
		described, err := stacks.DescribeStacks(t.Context(),
			&cloudformation.DescribeStacksInput{StackName: aws.String("toggleadmin-prod")})
		assert.OK(t, err)
		if status := described.Stacks[0].StackStatus; status != types.StackStatusRollbackFailed || tables(t) == 0 {
			t.Errorf("the stack is %s, with %d tables: %v", status, tables(t), failure)
		}
	})
	step(t, "make recover", func(t *testing.T) {
		if output, err := makeRecover(); err != nil || tables(t) != 0 {
			t.Errorf("%d tables remain: %v\n%s", tables(t), err, output)
		}
	})
	step(t, "the second deployment", func(t *testing.T) { assert.OK(t, deploy(t, func(*document) {})) })
	step(t, "make recover does not delete a deployed stack", func(t *testing.T) {
		if output, err := makeRecover(); err == nil || !strings.Contains(output, "is CREATE_COMPLETE") || tables(t) == 0 {
			t.Errorf("%d tables: %v\n%s", tables(t), err, output)
		}
	})
}
