package template_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"toggleadmin/test/table"
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
		err := json.Unmarshal([]byte(document), &policy)
		size := len(strings.Join(strings.Fields(document), ""))
		if err != nil || size > most || policy.Version != "2012-10-17" || len(policy.Statement) == 0 {
			t.Errorf("%s: %v, %d characters without white space, version %q, %d statements", file, err, size, policy.Version,
				len(policy.Statement))
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

// TestForbidden checks what no line of a file may contain.
func TestForbidden(t *testing.T) {
	t.Parallel()
	for _, row := range table.Rows(t, 3, `
		# files | forbidden | except
		# One partition of AWS, such as aws-cn. The names of services are the same in all.
		template.yaml samconfig.toml scripts/*.* docs/deployer-policy*.json | arn:aws:|amazonaws\.|aws\.amazon\. | (lambda|apigateway|ops\.apigateway|scheduler|events)\.amazonaws\.com
		# It returns 100 resources of a stack that has more: list-stack-resources.
		docs/*.md scripts/*.* | describe[-_]stack[-_]resources |
		# A waived check without a reason.
		.checkov.yaml | ^\s | ^  - CKV2?_AWS_\d+ # [A-Z].{30,}\.$
		# Secrets.
		template.yaml samconfig.toml .checkov.yaml | AKIA[0-9A-Z]{16}|PRIVATE KEY|:v2_|\.v2_|NoEcho|(?i)password|resolve: |
	`) {
		forbidden, except := regexp.MustCompile(row[1]), regexp.MustCompile(row[2])
		for pattern := range strings.FieldsSeq(row[0]) {
			files, _ := filepath.Glob(root + pattern)
			if len(files) == 0 {
				t.Errorf("there is no %s", pattern)
			}
			for _, file := range files {
				for line := range strings.Lines(read(t, strings.TrimPrefix(file, root))) {
					line = strings.TrimSuffix(line, "\n")
					if found := forbidden.FindString(except.ReplaceAllString(line, "")); found != "" {
						t.Errorf("%s contains %q: %s", file, found, line)
					}
				}
			}
		}
	}
}
