package template_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestDeployerPolicy checks that the policy for deployments is valid JSON and does not allow everything.
func TestDeployerPolicy(t *testing.T) {
	t.Parallel()
	var policy struct {
		Version   string
		Statement []struct {
			Sid, Effect                 string
			Action, Resource, Condition any
		}
	}
	document := read(t, "docs/deployer-policy.json")
	if err := json.Unmarshal([]byte(document), &policy); err != nil {
		t.Fatal(err)
	}
	if size := len(strings.Join(strings.Fields(document), "")); size > 6144 {
		t.Errorf("%d characters without white space: IAM allows 6,144 in a managed policy", size)
	}
	if policy.Version != "2012-10-17" || len(policy.Statement) == 0 {
		t.Errorf("version %q, %d statements", policy.Version, len(policy.Statement))
	}
	for _, s := range policy.Statement {
		if s.Effect != "Allow" || s.Sid == "" || s.Action == "*" || s.Resource == nil {
			t.Errorf("%+v", s)
		}
		if strings.Contains(fmt.Sprint(s.Action), "iam:AttachRolePolicy") && s.Condition == nil {
			t.Errorf("%s: any managed policy can be attached, AdministratorAccess too", s.Sid)
		}
	}
}

// TestPartitions checks that nothing is written for one partition of AWS, such as aws-cn. The names of services are the same in all.
func TestPartitions(t *testing.T) {
	t.Parallel()
	files, _ := filepath.Glob(root + "scripts/*.*")
	for i := range files {
		files[i] = strings.TrimPrefix(files[i], root)
	}
	service := regexp.MustCompile(`(lambda|apigateway|ops\.apigateway|scheduler|events)\.amazonaws\.com`)
	for _, file := range append(files, "template.yaml", "samconfig.toml", "docs/deployer-policy.json") {
		for line := range strings.Lines(read(t, file)) {
			if rest := service.ReplaceAllString(line, ""); strings.Contains(rest, "arn:aws:") || regexp.MustCompile(`amazonaws\.|aws\.amazon\.`).MatchString(rest) {
				t.Errorf("%s: %s", file, strings.TrimSpace(line))
			}
		}
	}
}

// TestAllResources checks that no page or script uses describe-stack-resources, which returns 100 resources of a stack that has more.
func TestAllResources(t *testing.T) {
	t.Parallel()
	files, _ := filepath.Glob(root + "docs/*.md")
	scripts, _ := filepath.Glob(root + "scripts/*.*")
	for _, file := range append(files, scripts...) {
		if file = strings.TrimPrefix(file, root); regexp.MustCompile(`describe[-_]stack[-_]resources`).MatchString(read(t, file)) {
			t.Errorf("%s uses describe-stack-resources: use list-stack-resources", file)
		}
	}
}

// TestWaivers checks that every waived checkov check has a reason.
func TestWaivers(t *testing.T) {
	t.Parallel()
	_, waived, _ := strings.Cut(read(t, ".checkov.yaml"), "skip-check:\n")
	for line := range strings.Lines(waived) {
		if !regexp.MustCompile(`^  - CKV2?_AWS_\d+ # [A-Z].{30,}\.\n$`).MatchString(line) {
			t.Errorf("%q: want one check and its reason", line)
		}
	}
}

func TestNoSecrets(t *testing.T) {
	t.Parallel()
	secret := regexp.MustCompile(`AKIA[0-9A-Z]{16}|PRIVATE KEY|:v2_|\.v2_|NoEcho|(?i)password|resolve:`)
	for _, file := range []string{"template.yaml", "samconfig.toml", ".checkov.yaml"} {
		if found := secret.FindString(read(t, file)); found != "" {
			t.Errorf("%s contains %s", file, found)
		}
	}
}
