package deploy_test

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation/types"
	"github.com/google/go-cmp/cmp"

	"toggleadmin/pkg/dynamo"
)

// TestDeploy takes a stack through its life.
func TestDeploy(t *testing.T) { //nolint:paralleltest // steps of one story
	e := start(t, needTools(t))
	var s *stack
	started := time.Now()
	step(t, "sam deploy", func(t *testing.T) { s = e.deploy(t, deployment{environment: "default"}) })
	step(t, "seed by the outputs", func(t *testing.T) { must(t, s.seed(t.Context())) })
	var overdue string
	step(t, "write a toggle that is due", func(t *testing.T) {
		var err error
		overdue, err = s.makeOverdueToggle(t.Context())
		must(t, err)
	})
	s.checkAll(t)
	step(t, "the schedule has swept", func(t *testing.T) {
		must(t, s.awaitFlags(t.Context(), patience, map[string]bool{overdue: true}))
		must(t, within(t.Context(), patience, func() error { return s.invoked(t.Context(), "SweepStalenessFunction", 2) })) // one was ours
	})
	for _, d := range differences() {
		step(t, "differs: "+d.name, func(t *testing.T) { must(t, d.holds(t.Context(), s)) })
	}
	step(t, "no function met a fault", func(t *testing.T) {
		for _, fault := range s.faults(t, started) {
			t.Error(fault)
		}
	})
	step(t, "sam deploy, one parameter changed", func(t *testing.T) { s = update(t, s) })
	step(t, "sam delete", func(t *testing.T) { remove(t, s) })
}

// TestEnvironments deploys the others of samconfig.toml's environments, as they stand.
func TestEnvironments(t *testing.T) { //nolint:paralleltest // one emulator
	e := start(t, needTools(t))
	for _, environment := range []string{"staging", "prod"} {
		step(t, "sam deploy --config-env "+environment, func(t *testing.T) {
			s := e.deploy(t, deployment{environment: environment})
			_, err := s.request(t.Context(), http.MethodGet, "/api/admin/context", "", "", http.StatusUnauthorized)
			must(t, err)
			if s.stage != environment {
				t.Errorf("the stage is %s", s.stage)
			}
		})
	}
}

// TestParameters deploys with another value than the default for every parameter of the template, and tries the stack.
func TestParameters(t *testing.T) { //nolint:paralleltest // one emulator
	e := start(t, needTools(t))
	var s *stack
	step(t, "sam deploy, every parameter changed", func(t *testing.T) {
		zone, err := e.makeZone(t.Context())
		must(t, err)
		values, err := readDocument(t, e.tools.template()).secondValues(e.url, zone)
		must(t, err)
		s = e.deploy(t, deployment{environment: "default", name: "second", parameters: values})
	})
	step(t, "seed by the outputs", func(t *testing.T) { must(t, s.seed(t.Context())) })
	s.checkAll(t)
}

// update gives a service account fewer tokens, and looks that nothing else has changed.
func update(t *testing.T, s *stack) *stack {
	t.Helper()
	const limit = 3
	ctx := t.Context()
	kept, err := s.makeToken(ctx, "kept", "2099-01-01T00:00:00Z")
	must(t, err)
	usage, err := s.usage(ctx, time.Now())
	must(t, err)

	updated := s.deploy(t, deployment{
		environment: s.environment, name: s.name,
		parameters: map[string]string{"MaxTokensPerAccount": fmt.Sprint(limit)},
	})
	updated.credentials = s.credentials
	for name, value := range s.outputs {
		if got := updated.outputs[name]; got != value && name != "ApiUrl" {
			t.Errorf("the output %s was %s and is %s", name, value, got)
		}
	}
	_, err = updated.request(ctx, http.MethodGet, "/api/admin/context", kept.Secret, "", http.StatusOK)
	must(t, err)
	got, err := updated.usage(ctx, time.Now())
	must(t, err)
	if diff := cmp.Diff(usage, got); diff != "" {
		t.Errorf("usage before and after:\n%s", diff)
	}
	made := 1 // kept is one
	for ; made <= limit; made++ {
		if _, err = updated.makeToken(ctx, fmt.Sprint("token ", made), "2099-01-01T00:00:00Z"); err != nil {
			break
		}
	}
	if made != limit {
		t.Errorf("an account gets %d tokens (%v), want %d", made, err, limit)
	}
	return updated
}

// remove deletes the stack and looks what of it is left: exactly what the template retains, the tables with their items.
func remove(t *testing.T, s *stack) {
	t.Helper()
	s.delete(t)
	last, err := s.lastStatus(t.Context())
	must(t, err)
	for _, id := range keys(s.template.get("Resources")) {
		if _, made := s.resources[id]; !made {
			continue // by a condition, or by the transform under other names
		}
		want := types.ResourceStatusDeleteComplete
		if text(s.template.get("Resources", id, "DeletionPolicy")) == "Retain" {
			want = types.ResourceStatusDeleteSkipped
		}
		if last[id] != want {
			t.Errorf("%s is %s, want %s", id, last[id], want)
		}
	}
	client, err := s.dynamoDB()
	must(t, err)
	for _, output := range []string{"UsersTable", "FeaturesTable", "TrafficTable"} {
		items := 0
		for _, err := range dynamo.Scan(t.Context(), client, s.outputs[output]) {
			must(t, err)
			items++
		}
		if items == 0 {
			t.Errorf("nothing is left in %s", output)
		}
	}
	if _, err := s.request(t.Context(), http.MethodGet, "/api/admin/context", s.credentials.Users[0].PAT, "", http.StatusOK); err == nil {
		t.Error("the API still answers")
	}
}

// lastStatus gives what became of each resource of a stack, by logical id.
func (s *stack) lastStatus(ctx context.Context) (map[string]types.ResourceStatus, error) {
	last := map[string]types.ResourceStatus{}
	pages := cloudformation.NewDescribeStackEventsPaginator(
		cloudformation.NewFromConfig(s.config()), &cloudformation.DescribeStackEventsInput{StackName: &s.id})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, fmt.Errorf("read the stack's events: %w", err)
		}
		for _, event := range page.StackEvents { // the newest first
			if id := aws.ToString(event.LogicalResourceId); last[id] == "" {
				last[id] = event.ResourceStatus
			}
		}
	}
	return last, nil
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
