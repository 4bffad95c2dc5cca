package template_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"toggleadmin/pkg/samtemplate"
)

// resource gives the resource of that id.
func resource(t *testing.T, id string) samtemplate.Resource {
	t.Helper()
	for _, found := range mustLoad(t).Resources {
		if found.LogicalID == id {
			return found
		}
	}
	t.Fatalf("the template has no %s", id)
	return samtemplate.Resource{}
}

// TestStalenessStream: nothing that is written while the mapping is made is missed, a failure is told by its record, repeated a bounded
// number of times, and kept; a type with much to do holds up no other.
func TestStalenessStream(t *testing.T) {
	t.Parallel()
	stream := at(resource(t, "ReevaluateStalenessFunction").Properties, "Events", "Lifetimes", "Properties")
	for key, want := range map[string]any{
		"StartingPosition": "TRIM_HORIZON", "BisectBatchOnFunctionError": true, "ParallelizationFactor": 10,
		"MaximumRetryAttempts": 10, "MaximumRecordAgeInSeconds": 3600,
		"FunctionResponseTypes": []any{"ReportBatchItemFailures"},
	} {
		if diff := cmp.Diff(want, at(stream, key)); diff != "" {
			t.Errorf("%s:\n%s", key, diff)
		}
	}
	if at(stream, "DestinationConfig", "OnFailure", "Type") != "SQS" {
		t.Error("what is given up is not kept")
	}
}

// TestStalenessSweep: a sweep ends before the next begins, and none is repeated.
func TestStalenessSweep(t *testing.T) {
	t.Parallel()
	properties := resource(t, "SweepStalenessFunction").Properties
	const minute = 60
	if timeout, ok := properties["Timeout"].(int); !ok || timeout >= minute {
		t.Errorf("a sweep may take %v s", properties["Timeout"])
	}
	schedule := at(properties, "Events", "EachMinute", "Properties")
	if at(schedule, "ScheduleExpression") != "rate(1 minute)" {
		t.Errorf("it runs at %v", at(schedule, "ScheduleExpression"))
	}
	if at(schedule, "RetryPolicy", "MaximumRetryAttempts") != 0 || at(properties, "EventInvokeConfig", "MaximumRetryAttempts") != 0 {
		t.Error("it is repeated before its time")
	}
	if at(properties, "EventInvokeConfig", "DestinationConfig", "OnFailure", "Type") != "SQS" {
		t.Error("what fails is not kept")
	}
}
