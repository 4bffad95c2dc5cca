package contract_test

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"toggleadmin/pkg/local"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/localtest"
	"toggleadmin/test/helper/openapi"
)

// call is a request.
type call struct {
	method, target string // target: the escaped path, and the query
	body           string
	token          string // value of Authorization; empty: no such header
	contentType    string // empty: no such header
	reason         string // value of Change-Reason; empty: no such header
}

// result is the status of a response and, for an error, its message.
type result struct {
	status  int
	message string
}

// service is a running service.
type service struct {
	local.Running
	client *http.Client // compares all exchanges with api/openapi.yaml
}

func start(t *testing.T) *service {
	t.Helper()
	validator, err := openapi.Load()
	assert.OK(t, err)
	s := &service{localtest.Start(t, local.Config{RequestsOnly: true}), &http.Client{
		Transport: validator.Transport(http.DefaultTransport, "", func(err error) { t.Error(err) }),
	}}
	for _, create := range []call{
		{target: "/api/admin/projects", body: `{"id":"` + usedProject + `","name":"Used"}`},
		{target: "/api/admin/projects/" + usedProject + "/features", body: `{"name":"used"}`},
	} {
		create.method, create.token, create.contentType = http.MethodPost, s.admin(), "application/json"
		got, _ := s.send(t, create)
		assert.Equal(t, http.StatusCreated, got.status)
	}
	return s
}

// admin returns the token of an Admin.
func (s *service) admin() string { return s.Users[0].PAT }

func (s *service) send(t *testing.T, c call) (got result, header http.Header) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), c.method, s.BaseURL+c.target, strings.NewReader(c.body))
	assert.OK(t, err)
	for name, value := range map[string]string{"Authorization": c.token, "Content-Type": c.contentType, "Change-Reason": c.reason} {
		if value != "" {
			request.Header.Set(name, value)
		}
	}
	response, err := s.client.Do(request)
	assert.OK(t, err)
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	assert.OK(t, err)
	got.status = response.StatusCode
	if got.status >= http.StatusBadRequest {
		var object map[string]string
		assert.OK(t, json.Unmarshal(body, &object))
		assert.Equal(t, []string{"id", "message", "name"}, slices.Sorted(maps.Keys(object)))
		got.message = object["message"]
	}
	return got, response.Header
}

// want sends a request and compares the result.
func (s *service) want(t *testing.T, c call, want result) http.Header {
	t.Helper()
	got, header := s.send(t, c)
	if got != want {
		t.Errorf("%s %s with %.100s: %+v, want %+v", c.method, c.target, c.body, got, want)
	}
	return header
}

// operation is an operation of api/openapi.yaml.
type operation struct {
	call    // with the first example of parameters and body
	name    string
	hasBody bool
	denials map[string]int // statuses of its errors for valid credentials, by the message in the document's examples
}

// each runs a test of each operation. An Admin sends the operation's request.
func (s *service) each(t *testing.T, test func(t *testing.T, op operation)) {
	t.Helper()
	for _, op := range operations(t) {
		op.token = s.admin()
		t.Run(op.name, func(t *testing.T) {
			t.Parallel()
			test(t, op)
		})
	}
}

// Each operation has its own value of the path parameter toggleName, and its own toggle instead of exampleToggle: one
// could create or delete another's.
const toggleName, exampleToggle = "featureName", "checkout"

// exampleProject is the project of the examples. usedProject cannot be archived or deleted, because it has a toggle. Only
// the operations that try it use that one: while the service looks for toggles, nothing can be created in a project.
const exampleProject, usedProject = "shop", "used"

func operations(t *testing.T) []operation {
	t.Helper()
	doc, err := openapi.Document()
	assert.OK(t, err)
	var all []operation
	for path, item := range doc.Paths.Map() {
		for _, parameter := range item.Parameters {
			if parameter.Value.Name == toggleName {
				continue
			}
			value := fmt.Sprint(parameter.Value.Example)
			if _, err := strconv.Atoi(value); err == nil { // a seeded account or token could have the id of the example
				value = fmt.Sprint(access.MaxID)
			}
			path = strings.ReplaceAll(path, "{"+parameter.Value.Name+"}", value)
		}
		for method, declared := range item.Operations() {
			if declared.Security != nil { // the health check, which needs no credential
				continue
			}
			target := strings.ReplaceAll(path, "{"+toggleName+"}", declared.OperationID)
			if declared.OperationID == "removeEnvironmentFromProject" { // not what addEnvironmentToProject adds
				target += "-other"
			}
			target = strings.Replace(target, "/tag-types/team", "/tag-types/other", 1) // not what createTagType creates
			project := exampleProject
			switch declared.OperationID {
			case "archiveProject", "deleteProject", "reviveProject":
				project = usedProject
				target = strings.Replace(target, "/"+exampleProject, "/"+project, 1)
			}
			switch declared.OperationID { // not what setProjectEnvironmentFreeze freezes
			case "getProjectEnvironmentFreeze", "deleteProjectEnvironmentFreeze":
				target = strings.Replace(target, "/production/", "/development/", 1)
			}
			op := operation{call: call{method: method, target: target}, name: declared.OperationID, denials: map[string]int{}}
			if declared.RequestBody != nil {
				examples := declared.RequestBody.Value.Content["application/json"].Examples
				body, err := json.Marshal(examples[slices.Min(slices.Collect(maps.Keys(examples)))].Value.Value)
				assert.OK(t, err)
				op.body = strings.ReplaceAll(string(body), strconv.Quote(exampleToggle), strconv.Quote(op.name))
				op.contentType, op.hasBody = "application/json", true
			}
			for _, status := range []int{401, 403} {
				response := declared.Responses.Status(status)
				if response == nil {
					continue
				}
				for _, example := range response.Value.Content["application/json"].Examples {
					if body, ok := example.Value.Value.(map[string]any); ok {
						message := strings.ReplaceAll(fmt.Sprint(body["message"]), strconv.Quote(exampleProject), strconv.Quote(project))
						op.denials[message] = status
					}
				}
			}
			all = append(all, op)
		}
	}
	return all
}
