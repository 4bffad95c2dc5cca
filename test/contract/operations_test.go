package contract_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"toggleadmin/pkg/platform/access"
	"toggleadmin/test/openapi"
)

const (
	textUnauthorized = "You need a valid credential in the Authorization header."
	textNoUser401    = "This operation requires a token that identifies a user."
	textNoUser403    = "You need a token that identifies a user to perform this operation."
	textNoPath       = "The path you were looking for is not available."
)

// needs is the message of a 403 for a missing permission.
func needs(permission string) string {
	return `You need the "` + permission + `" permission to perform this operation.`
}

// operation is an operation of api/openapi.yaml.
type operation struct {
	name    string
	call    call // with the first example of parameters and body
	hasBody bool
	denials map[string]int // statuses of its errors for valid credentials, by the message in the document's examples
}

// toggleName is the path parameter that each operation has its own value of: one could delete another's toggle.
const toggleName = "featureName"

func operations(t *testing.T) []operation {
	t.Helper()
	doc, err := openapi.Document(t.Context())
	must(t, err)
	var all []operation
	for path, item := range doc.Paths.Map() {
		for _, parameter := range item.Parameters {
			if parameter.Value.Name == toggleName {
				continue
			}
			value := fmt.Sprint(parameter.Value.Example)
			// an account or a token of another test could have the id of the example
			if _, err := strconv.Atoi(value); err == nil {
				value = fmt.Sprint(access.MaxID)
			}
			path = strings.ReplaceAll(path, "{"+parameter.Value.Name+"}", value)
		}
		for method, declared := range item.Operations() {
			target := strings.ReplaceAll(path, "{"+toggleName+"}", declared.OperationID)
			op := operation{name: declared.OperationID, call: call{method: method, target: target}, denials: map[string]int{}}
			if declared.RequestBody != nil {
				examples := declared.RequestBody.Value.Content["application/json"].Examples
				body, err := json.Marshal(examples[slices.Min(slices.Collect(maps.Keys(examples)))].Value.Value)
				must(t, err)
				op.call.body, op.hasBody = string(body), true
			}
			for _, status := range []int{401, 403} {
				response := declared.Responses.Status(status)
				if response == nil {
					continue
				}
				for _, example := range response.Value.Content["application/json"].Examples {
					if body, ok := example.Value.Value.(map[string]any); ok {
						op.denials[fmt.Sprint(body["message"])] = status
					}
				}
			}
			all = append(all, op)
		}
	}
	return all
}
