package installation_test

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"toggleadmin/pkg/operator/exitstatus"
	"toggleadmin/pkg/operator/installation"
	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/roundtrip"
)

// TestOpenStack answers DescribeStacks and GetCallerIdentity in the form of CloudFormation's API reference.
func TestOpenStack(t *testing.T) {
	t.Parallel()
	template, err := installation.Template()
	assert.OK(t, err)
	outputs := "<member><OutputKey>ApiUrl</OutputKey><OutputValue>https://api.example.com</OutputValue></member>"
	want := dynamo.Tables{}
	for _, table := range template.Tables {
		want[table.Name] = "my-stack-" + table.Name + "-1"
		outputs += fmt.Sprintf("<member><OutputKey>%sTable</OutputKey><OutputValue>%s</OutputValue></member>", table.Name,
			want[table.Name])
	}
	parameters := ""
	for name, value := range map[string]int{"MaxTokensPerAccount": 3, "MaxServiceAccounts": 7, "MaxTokenDays": 30,
		"MaxClientTokens": 5} {
		parameters += fmt.Sprintf("<member><ParameterKey>%s</ParameterKey><ParameterValue>%d</ParameterValue></member>", name,
			value)
	}
	response := "<DescribeStacksResponse><DescribeStacksResult><Stacks><member><Parameters>" + parameters +
		"</Parameters><Outputs>" + outputs + "</Outputs></member></Stacks></DescribeStacksResult></DescribeStacksResponse>"
	for operator, status := range map[string]int{
		"operator arn:aws:iam::1:user/ada": http.StatusOK, "operator with the access key a": http.StatusForbidden,
	} {
		i, err := installation.OpenStack(t.Context(), responding(func(r *http.Request) (int, string) {
			if strings.HasPrefix(r.URL.Host, "sts.") {
				return status, "<R><GetCallerIdentityResult><Arn>arn:aws:iam::1:user/ada</Arn></GetCallerIdentityResult></R>"
			}
			return http.StatusOK, response
		}), "my-stack")
		assert.OK(t, err)
		assert.Equal(t, []any{3, int64(7), 30, 5, operator},
			[]any{i.TokenLimit, i.AccountLimit, i.MaxTokenDays, i.ClientTokenLimit, i.Operator})
		assert.Equal(t, want, i.Tables)
	}
}

// A stack of another version lacks tables.
func TestOtherStack(t *testing.T) {
	t.Parallel()
	_, err := installation.OpenStack(t.Context(), responding(func(*http.Request) (int, string) {
		return http.StatusOK, "<DescribeStacksResponse><DescribeStacksResult><Stacks><member>" +
			"<StackStatus>CREATE_COMPLETE</StackStatus><Outputs>" +
			"<member><OutputKey>ApiUrl</OutputKey><OutputValue>https://api.example.com</OutputValue></member>" +
			"<member><OutputKey>FeaturesTable</OutputKey><OutputValue>x</OutputValue></member>" +
			"</Outputs></member></Stacks></DescribeStacksResult></DescribeStacksResponse>"
	}), "my-stack")
	if exitstatus.Of(err) != exitstatus.Unreachable ||
		!strings.Contains(err.Error(), "it lacks the outputs FeedbackTable, FeatureTypesTable, ContextFieldsTable, ") {
		t.Errorf("error %v", err)
	}
}

// The times that a wrong clock would write are refused before anything is read or written.
func TestWrongClock(t *testing.T) {
	t.Parallel()
	for behind, want := range map[time.Duration]string{
		24 * time.Hour:  "the clock of this computer is 24h0m0s ahead of that of AWS: set it first",
		-24 * time.Hour: "the clock of this computer is 24h0m0s behind that of AWS: set it first",
		4 * time.Minute: "lacks the outputs",
	} {
		_, err := installation.OpenStack(t.Context(), roundtrip.AWS(roundtrip.Func(func(*http.Request) (*http.Response, error) {
			r := roundtrip.Response(http.StatusOK, "<DescribeStacksResponse><DescribeStacksResult><Stacks><member></member>"+
				"</Stacks></DescribeStacksResult></DescribeStacksResponse>")
			r.Header.Set("Date", time.Now().Add(-behind).UTC().Format(http.TimeFormat))
			return r, nil
		})), "my-stack")
		text := regexp.MustCompile("2[34]h[0-9]+m[0-9]+s").ReplaceAllString(fmt.Sprint(err), "24h0m0s") // within seconds
		if !strings.Contains(text, want) {
			t.Errorf("%s: %v", behind, err)
		}
	}
}

// responding returns a configuration of AWS whose requests get the responses of a function.
func responding(respond func(*http.Request) (status int, body string)) aws.Config {
	return roundtrip.AWS(roundtrip.Func(func(r *http.Request) (*http.Response, error) {
		return roundtrip.Response(respond(r)), nil
	}))
}
