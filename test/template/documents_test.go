package template_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
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
