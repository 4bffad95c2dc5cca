package template_test

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"toggleadmin/pkg/samtemplate"
)

func mustRead(t *testing.T, name string) string {
	t.Helper()
	content, err := os.ReadFile(root + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// TestRunbook: each alarm has its section in the runbook, and each section its alarms.
func TestRunbook(t *testing.T) {
	t.Parallel()
	read, err := samtemplate.Load(root+"template.yaml", everything())
	if err != nil {
		t.Fatal(err)
	}
	var sections []string
	for _, heading := range regexp.MustCompile(`(?m)^### (.*)$`).FindAllStringSubmatch(mustRead(t, "docs/runbook.md"), -1) {
		sections = append(sections, strings.Split(heading[1], ", ")...)
	}
	var alarms []string
	for _, alarm := range ofType(read, "AWS::CloudWatch::Alarm") {
		alarms = append(alarms, alarm.LogicalID)
		if !slices.Contains(sections, alarm.LogicalID) {
			t.Errorf("docs/runbook.md has no section for %s", alarm.LogicalID)
		}
	}
	for _, section := range sections {
		if !slices.Contains(alarms, section) {
			t.Errorf("docs/runbook.md has a section for %s, which is no alarm", section)
		}
	}
}

// TestParametersAreDocumented: the README's table has each parameter.
func TestParametersAreDocumented(t *testing.T) {
	t.Parallel()
	page := mustRead(t, "README.md")
	all, _, _ := parameters(t)
	for name := range all {
		if !regexp.MustCompile("(?m)^\\|.*`" + name + "`.*\\|").MatchString(page) {
			t.Errorf("README.md does not say what the parameter %s is", name)
		}
	}
}

// TestDeployerPolicy: the policy for whoever deploys is one that IAM could read, and no statement of it allows everything.
func TestDeployerPolicy(t *testing.T) {
	t.Parallel()
	var policy struct {
		Version   string
		Statement []struct {
			Sid, Effect string
			Action      any
			Resource    any
			Condition   any
		}
	}
	if err := json.Unmarshal([]byte(mustRead(t, "docs/deployer-policy.json")), &policy); err != nil {
		t.Fatal(err)
	}
	if policy.Version != "2012-10-17" || len(policy.Statement) == 0 {
		t.Errorf("version %q, %d statements", policy.Version, len(policy.Statement))
	}
	for _, s := range policy.Statement {
		if s.Effect != "Allow" || s.Sid == "" || s.Action == "*" || s.Resource == nil {
			t.Errorf("%+v", s)
		}
		if strings.Contains(fmt.Sprint(s.Action), "iam:AttachRolePolicy") && s.Condition == nil {
			t.Errorf("%s: any of AWS's policies may be attached, AdministratorAccess too", s.Sid)
		}
	}
}
