package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"strconv"
	"testing"
	"time"

	"toggleadmin/pkg/evaluation"
	"toggleadmin/pkg/toggle"
)

const (
	evaluated   = 10_000    // toggles of the suite evaluation
	evaluations = 2_000_000 // of a measurement
)

// measureEvaluation measures the package evaluation in this process. It counts processor time, because an evaluation
// waits for nothing.
func measureEvaluation(context.Context, options) {
	document := evaluationDocument()
	var engine *evaluation.Engine
	before := heap()
	compiling := processorTime(func() { engine = evaluation.New(document) })
	memory := heap() - before

	ctx := evaluation.Context{
		Fields: map[string]string{"userId": "u-7421", "country": "NO", "appVersion": "4.12.3", "plan": "pro", "age": "41"},
		Now:    time.Now(),
		Random: rand.Uint32N,
	}
	enabled := func(name string) { engine.Enabled(name, &ctx) }
	variant := func(name string) { engine.Evaluate(name, &ctx) }
	printTable("Evaluation", " | µs | allocations",
		[][]any{
			append([]any{"on or off"}, measureToggle(document, enabled)...),
			append([]any{"on or off, and the variant"}, measureToggle(document, variant)...),
		},
		"Processor time of one of %d toggles. Each has two strategies, which have four constraints, a segment and three "+
			"variants in all. Compiling all of them takes %d ms; the result has %.0f MB.",
		evaluated, compiling.Milliseconds(), float64(memory)/1e6)
}

// measureToggle returns the microseconds and the allocations of an evaluation of a toggle.
func measureToggle(document evaluation.Document, evaluate func(name string)) []any {
	took := processorTime(func() {
		for i := range evaluations {
			evaluate(document.Features[i%evaluated].Name)
		}
	})
	name := document.Features[evaluated-1].Name
	allocations := testing.AllocsPerRun(100, func() { evaluate(name) })
	return []any{float64(took.Nanoseconds()) / 1000 / evaluations, int(allocations)}
}

func processorTime(f func()) time.Duration {
	before := cpuTime(os.Getpid())
	f()
	return cpuTime(os.Getpid()) - before
}

// heap returns the number of bytes in use.
func heap() uint64 {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}

// evaluationDocument has toggles that are on for testers, and for a part of the users of some countries.
func evaluationDocument() evaluation.Document {
	document := evaluation.Document{Segments: []toggle.Segment{{ID: 1, Name: "Adults", Constraints: []toggle.Constraint{
		{ContextName: "age", Operator: toggle.OperatorNumGte, Value: "18"},
	}}}}
	for i := range evaluated {
		name := fmt.Sprintf("checkout-toggle-%07d", i)
		testers := evaluation.Strategy{
			Name:       toggle.StrategyFlexibleRollout,
			Parameters: rolloutParameters(name, 100),
			Constraints: []toggle.Constraint{
				{ContextName: "userId", Operator: toggle.OperatorIn, Values: []string{"u-1", "u-2", "u-3"}},
			},
		}
		users := evaluation.Strategy{
			Name:       toggle.StrategyFlexibleRollout,
			Parameters: rolloutParameters(name, i%101),
			Constraints: []toggle.Constraint{
				{ContextName: "country", Operator: toggle.OperatorIn, Values: []string{"NO", "SE", "DK"}},
				{ContextName: "appVersion", Operator: toggle.OperatorSemverGte, Value: "4.2.0"},
				{ContextName: "plan", Operator: toggle.OperatorStrStartsWith, Values: []string{"PRO"}, CaseInsensitive: true},
			},
			Segments: []int64{1},
			Variants: []toggle.Variant{{Name: "a", Weight: 334}, {Name: "b", Weight: 333}, {Name: "c", Weight: 333}},
		}
		document.Features = append(document.Features, evaluation.Feature{
			Name:       name,
			Enabled:    true,
			Strategies: []evaluation.Strategy{testers, users},
		})
	}
	return document
}

func rolloutParameters(group string, percentage int) map[string]string {
	return map[string]string{
		toggle.ParameterGroupID:    group,
		toggle.ParameterRollout:    strconv.Itoa(percentage),
		toggle.ParameterStickiness: toggle.StickinessDefault,
	}
}
