package authorizer_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"
)

// Any bytes are answered with a policy or, where they are no event, an error; an Allow only where the one Authorization header is valid.
func FuzzAuthorize(f *testing.F) {
	sample, err := os.ReadFile("../../events/authorizer.json")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(sample)
	f.Add([]byte(strings.ReplaceAll(string(sample), "example-only-no-secret-example-only-no-sec0", secret)))
	for _, event := range []events.APIGatewayCustomAuthorizerRequestTypeRequest{request(), request(patToken(1, 1)), request("bearer " + apiToken(1)), request(patToken(1, 1), "x")} {
		encoded, err := json.Marshal(event)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(encoded)
	}
	for _, seed := range []string{"", "null", "[]", "{}", `{"headers":{"Authorization":7}}`, `{"methodArn":"/","headers":{"authorization":"\ud800"}}`, `{"multiValueHeaders":{"authorization":null}}`} {
		f.Add([]byte(seed))
	}
	a, _ := authenticator(newFake(f))
	handler := lambda.NewHandler(a.Authorize)
	valid := map[string]string{patToken(1, 1): "user:1", patToken(2, 2): "user:2", patToken(3, 3): "user:3", patToken(4, 4): "user:4", apiToken(1): "api-token:AAAAAAAAAAAAAAAAAAAAAQ"}
	f.Fuzz(func(t *testing.T, payload []byte) {
		var event events.APIGatewayCustomAuthorizerRequestTypeRequest
		malformed := json.Unmarshal(payload, &event)
		out, err := handler.Invoke(t.Context(), payload)
		if err != nil {
			if malformed == nil || err.Error() == "Unauthorized" {
				t.Fatalf("the error is %v", err)
			}
			return
		}
		var answer events.APIGatewayCustomAuthorizerResponse
		if err := json.Unmarshal(out, &answer); err != nil {
			t.Fatal(err)
		}
		if len(answer.PolicyDocument.Statement) != 1 || strings.Contains(string(out), secret) && !strings.Contains(event.MethodArn, secret) {
			t.Fatalf("the answer is %s", out)
		}
		if answer.PolicyDocument.Statement[0].Effect == "Deny" {
			if answer.PrincipalID != "anonymous" || answer.Context != nil {
				t.Fatalf("the answer is %s", out)
			}
			return
		}
		var sent []string
		for name, values := range event.MultiValueHeaders {
			if strings.EqualFold(name, "authorization") {
				sent = append(sent, values...)
			}
		}
		for name, value := range event.Headers {
			if strings.EqualFold(name, "authorization") && len(sent) == 0 {
				sent = append(sent, value)
			}
		}
		if len(sent) != 1 {
			t.Fatalf("allowed with the headers %q", sent)
		}
		words := strings.Fields(sent[0])
		if principal, ok := valid[words[len(words)-1]]; !ok || principal != answer.PrincipalID || len(words) > 2 {
			t.Fatalf("allowed with %q: %s", sent[0], out)
		}
	})
}
