package samtemplate_test

import (
	"testing"

	"toggleadmin/pkg/samtemplate"
)

const ruled = `Transform: AWS::Serverless-2016-10-31
Parameters:
  Domain: {Type: String, Default: ''}
  Certificate: {Type: String, Default: ''}
Rules:
  DomainNeedsCertificate:
    RuleCondition: !Not [!Equals [!Ref Domain, '']]
    Assertions:
      - {Assert: !Not [!Equals [!Ref Certificate, '']], AssertDescription: Domain needs Certificate.}
  Always:
    Assertions:
      - {Assert: !Not [!Equals [!Ref Domain, bad]], AssertDescription: That domain is bad.}
Resources:
  Api: {Type: AWS::Serverless::Api, Properties: {StageName: dev}}
`

// TestRules: a deployment whose parameters break a rule is refused with the rule's own text.
func TestRules(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name       string
		parameters map[string]string
		want       string
	}{
		{"the defaults", nil, ""},
		{"both", map[string]string{"Domain": "a.example", "Certificate": "c"}, ""},
		{
			"one without the other", map[string]string{"Domain": "a.example"},
			"template.yaml:9: Rules.DomainNeedsCertificate.Assertions[0]: Domain needs Certificate.",
		},
		{
			"a rule without a condition", map[string]string{"Domain": "bad", "Certificate": "c"},
			"template.yaml:12: Rules.Always.Assertions[0]: That domain is bad.",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := ""
			if _, err := samtemplate.Parse("template.yaml", []byte(ruled), samtemplate.Settings{Parameters: tt.parameters}); err != nil {
				got = err.Error()
			}
			if got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// TestBrokenRules: what a rule cannot say is refused even where the rule does not bind.
func TestBrokenRules(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, rule, want string }{
		{"a resource", "{Assertions: [{Assert: !Equals [!Ref Api, x], AssertDescription: a}]}",
			`4: Rules.R.Assertions[0].Assert[0]: "Api" is no parameter and no resource`},
		{"a condition", "{Assertions: [{Assert: {Condition: C}, AssertDescription: a}]}",
			`4: Rules.R.Assertions[0].Assert: there is no condition "C"`},
		{"no text", "{Assertions: [{Assert: !Equals [a, a]}]}", "4: Rules.R.Assertions[0]: AssertDescription is missing"},
		{"an unknown key", "{When: x}", "4: Rules.R.When: When is not known"},
		{"not binding", "{RuleCondition: !Equals [a, b], Assertions: [{Assert: x, AssertDescription: a}]}",
			`4: Rules.R.Assertions[0].Assert: a condition wants Fn::Equals, Fn::Not, Fn::And, Fn::Or or Condition, not "x"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := samtemplate.Parse("template.yaml", []byte(api+"Rules: {R: "+tt.rule+"}\n"), samtemplate.Settings{})
			if err == nil || err.Error() != "template.yaml:"+tt.want {
				t.Errorf("got %v\nwant %s", err, tt.want)
			}
		})
	}
}
