package samtemplate_test

import (
	"testing"

	"toggleadmin/pkg/samtemplate"
)

func TestParameters(t *testing.T) {
	t.Parallel()
	const place = "template.yaml:5: Parameters.P: "
	tests := []struct {
		name, parameter string
		given           map[string]string
		want, fails     string
	}{
		{"default", "{Type: String, Default: a}", nil, "a", ""},
		{"empty default", "{Type: String, Default: ''}", nil, "", ""},
		{"given", "{Type: String, Default: a}", map[string]string{"P": "b"}, "b", ""},
		{"given without default", "{Type: String}", map[string]string{"P": "b"}, "b", ""},
		{"missing", "{Type: String}", nil, "", place + "has no default: give the parameter a value"},
		{"unknown name", "{Type: String, Default: a}", map[string]string{"Q": "b"}, "",
			`template.yaml:4: Parameters: there is no parameter "Q"`},
		{"allowed number", "{Type: Number, Default: 30, AllowedValues: [7, 30]}", nil, "30", ""},
		{"not allowed", "{Type: Number, Default: 8, AllowedValues: [7, 30]}", nil, "", place + `"8" is not allowed: only 7, 30`},
		{"pattern", "{Type: String, Default: abc, AllowedPattern: '[a-c]+'}", map[string]string{"P": "xabc"}, "",
			place + `"xabc" does not match AllowedPattern [a-c]+`},
		{"broken pattern", "{Type: String, Default: abc, AllowedPattern: '('}", nil, "",
			place + "AllowedPattern: error parsing regexp: missing closing ): `^(?:()$`"},
		{"no number", "{Type: Number, Default: 1}", map[string]string{"P": "one"}, "", place + `"one" is no number`},
		{"below", "{Type: Number, Default: 1, MinValue: 1}", map[string]string{"P": "0"}, "", place + "0 is below MinValue 1"},
		{"above", "{Type: Number, Default: 1, MaxValue: 100}", map[string]string{"P": "101"}, "", place + "101 is above MaxValue 100"},
		{"short", "{Type: String, Default: abc, MinLength: 4}", nil, "", place + "3 is below MinLength 4"},
		{"long", "{Type: String, Default: äöü, MaxLength: 2}", nil, "", place + "3 is above MaxLength 2"},
		{"unknown type", "{Type: AWS::EC2::VPC::Id, Default: a}", nil, "", place + "the parameter type AWS::EC2::VPC::Id is not known"},
		{"unknown rule", "{Type: String, Default: a, AllowedLength: 1}", nil, "",
			"template.yaml:5: Parameters.P.AllowedLength: AllowedLength is not known"},
		{"function as default", "{Type: String, Default: !Ref AWS::Region}", nil, "",
			"template.yaml:5: Parameters.P.Default: must be a text, not Ref"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			content := api + "Parameters:\n  P: " + tt.parameter + "\nOutputs: {X: {Value: !Sub '${P}'}}\n"
			got, err := samtemplate.Parse("template.yaml", []byte(content), samtemplate.Settings{Parameters: tt.given})
			switch {
			case tt.fails != "":
				if err == nil || err.Error() != tt.fails {
					t.Errorf("got  %v\nwant %s", err, tt.fails)
				}
			case err != nil:
				t.Error(err)
			case got.Outputs["X"] != tt.want:
				t.Errorf("got %q, want %q", got.Outputs["X"], tt.want)
			}
		})
	}
}
