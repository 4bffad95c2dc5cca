package template_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestDeployerPolicies checks that the policies for deployments are valid, do not allow everything, and are below 90 %
// of the characters that IAM allows in a managed policy.
func TestDeployerPolicies(t *testing.T) {
	t.Parallel()
	const most = 6144 * 9 / 10
	files, _ := filepath.Glob(root + "docs/deployer-policy*.json")
	for _, file := range files {
		var policy struct {
			Version   string
			Statement []struct {
				Sid, Effect                 string
				Action, Resource, Condition any
			}
		}
		document := read(t, strings.TrimPrefix(file, root))
		if err := json.Unmarshal([]byte(document), &policy); err != nil {
			t.Fatal(err)
		}
		if size := len(strings.Join(strings.Fields(document), "")); size > most {
			t.Errorf("%s: %d characters without white space are more than %d", file, size, most)
		}
		if policy.Version != "2012-10-17" || len(policy.Statement) == 0 {
			t.Errorf("%s: version %q, %d statements", file, policy.Version, len(policy.Statement))
		}
		for _, s := range policy.Statement {
			if s.Effect != "Allow" || s.Sid == "" || s.Action == "*" || s.Resource == nil {
				t.Errorf("%s: %+v", file, s)
			}
			if strings.Contains(fmt.Sprint(s.Action), "iam:AttachRolePolicy") && s.Condition == nil {
				t.Errorf("%s: any managed policy can be attached, AdministratorAccess too", s.Sid)
			}
		}
	}
}

// TestPartitions checks that nothing is written for one partition of AWS, such as aws-cn. The names of services are the
// same in all.
func TestPartitions(t *testing.T) {
	t.Parallel()
	files, _ := filepath.Glob(root + "scripts/*.*")
	policies, _ := filepath.Glob(root + "docs/deployer-policy*.json")
	files = append(files, policies...)
	for i := range files {
		files[i] = strings.TrimPrefix(files[i], root)
	}
	service := regexp.MustCompile(`(lambda|apigateway|ops\.apigateway|scheduler|events)\.amazonaws\.com`)
	for _, file := range append(files, "template.yaml", "samconfig.toml") {
		for line := range strings.Lines(read(t, file)) {
			if rest := service.ReplaceAllString(line, ""); strings.Contains(rest, "arn:aws:") ||
				regexp.MustCompile(`amazonaws\.|aws\.amazon\.`).MatchString(rest) {
				t.Errorf("%s: %s", file, strings.TrimSpace(line))
			}
		}
	}
}

// TestAllResources checks that no page or script uses describe-stack-resources, which returns 100 resources of a stack
// that has more.
func TestAllResources(t *testing.T) {
	t.Parallel()
	files, _ := filepath.Glob(root + "docs/*.md")
	scripts, _ := filepath.Glob(root + "scripts/*.*")
	for _, file := range append(files, scripts...) {
		if file = strings.TrimPrefix(file, root); regexp.MustCompile(`describe[-_]stack[-_]resources`).MatchString(read(t,
			file)) {
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
