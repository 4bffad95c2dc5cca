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

	"toggleadmin/pkg/platform/dynamo"
)

// TestDeploy creates, updates and deletes a stack.
func TestDeploy(t *testing.T) { //nolint:paralleltest // steps
	e := start(t)
	var s *stack
	var overdue string
	started := time.Now()
	step(t, "sam deploy", func(t *testing.T) { s = e.deploy(t, deployment{environment: "default"}) })
	step(t, "seed", func(t *testing.T) {
		must(t, s.seed())
		var err error
		overdue, err = s.createOverdueToggle()
		must(t, err)
	})
	s.checkAll(t)
	step(t, "the schedule sweeps", func(t *testing.T) {
		must(t, s.awaitFlags(map[string]bool{overdue: true}))
		const calls = 2 // checkSweep has called it once
		must(t, s.awaitLog("SweepStalenessFunction", time.UnixMilli(0), calls, regexp.MustCompile("^REPORT ")))
	})
	for _, d := range differences {
		step(t, "difference: "+d.name, func(t *testing.T) { must(t, d.run(s)) })
	}
	step(t, "no function logged an error", func(t *testing.T) { must(t, s.loggedErrors(t, started)) })
	step(t, "sam deploy, one parameter changed", func(t *testing.T) { update(t, s) })
	step(t, "sam delete", func(t *testing.T) { remove(t, s) })
}

// update lowers the number of tokens of an account. Nothing else changes.
func update(t *testing.T, s *stack) {
	t.Helper()
	kept, err := s.createToken("kept")
	must(t, err)
	usage, err := s.usage()
	must(t, err)
	updated := s.deploy(t, deployment{environment: "default", name: s.name, parameters: map[string]string{
		"MaxTokensPerAccount": "3", "LogRetentionDays": "14", "Monitoring": "none",
	}})
	updated.credentials = s.credentials
	for name, value := range s.outputs {
		if got := updated.outputs[name]; got != value && name != "ApiUrl" { // a changed API gets a new id in the emulator
			t.Errorf("the output %s was %s and is %s", name, value, got)
		}
	}
	must(t, updated.use(kept.Secret, http.StatusOK))
	if got, err := updated.usage(); err != nil || !maps.Equal(usage, got) {
		t.Errorf("usage was %v and is %v, %v", usage, got, err)
	}
	for i, description := range []string{"second", "third", "fourth"} {
		if _, err := updated.createToken(description); (err == nil) != (i < 2) {
			t.Errorf("create the %s token: %v", description, err)
		}
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
		must(t, err)
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
	for _, table := range []string{s.tables.Users, s.tables.Features, s.tables.Traffic} {
		items := 0
		for _, err := range dynamo.Scan(t.Context(), s.db, table) {
			must(t, err)
			items++
		}
		if items == 0 {
			t.Errorf("%s is empty", table)
		}
	}
	if s.use(s.credentials.Users[0].PAT, http.StatusOK) == nil {
		t.Error("the API still responds")
	}
}

// TestOperator runs the scripts of cmd/toggleadmin that need a stack, on one from the plain template of `make package`.
func TestOperator(t *testing.T) { //nolint:paralleltest // one emulator
	e := start(t)
	var s *stack
	step(t, "make package", func(t *testing.T) {
		s = e.deployPackage(t, "operated", map[string]string{
			"Monitoring": "alarms-and-dashboard", "AlarmEmail": "alarms@example.com",
		})
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
		must(t, err)
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
		return e.runPython(absolute(t, "."), "python", "scripts/recover.py", "prod")
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
		must(t, err)
		if status := described.Stacks[0].StackStatus; status != types.StackStatusRollbackFailed || tables(t) == 0 {
			t.Errorf("the stack is %s, with %d tables: %v", status, tables(t), failure)
		}
	})
	step(t, "make recover", func(t *testing.T) {
		if output, err := makeRecover(); err != nil || tables(t) != 0 {
			t.Errorf("%d tables remain: %v\n%s", tables(t), err, output)
		}
	})
	step(t, "the second deployment", func(t *testing.T) { must(t, deploy(t, func(*document) {})) })
	step(t, "make recover does not delete a deployed stack", func(t *testing.T) {
		if output, err := makeRecover(); err == nil || !strings.Contains(output, "is CREATE_COMPLETE") || tables(t) == 0 {
			t.Errorf("%d tables: %v\n%s", tables(t), err, output)
		}
	})
}
