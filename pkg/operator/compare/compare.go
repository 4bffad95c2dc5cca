// Package compare compares what two installations deliver to applications: what applications download from each is
// evaluated for the same contexts, with the engine of this service.
package compare

import (
	"maps"
	"reflect"
	"slices"
	"time"

	"toggleadmin/pkg/evaluation"
	"toggleadmin/pkg/toggle"
)

// Fields is a context: the values of its fields by their names.
type Fields map[string]string

// HostField is the name of the host of an application in Fields. It is no field of a context: only strategies of the type
// applicationHostname read it.
const HostField = "hostName"

// Report is the result of a comparison.
type Report struct {
	Contexts    int          `json:"contexts"`    // for which each toggle was evaluated
	Toggles     int          `json:"toggles"`     // of both sides together
	Differences []Difference `json:"differences"` // by the name of the toggle
}

// Difference is a toggle that has different results.
type Difference struct {
	Toggle   string `json:"toggle"`
	Contexts int    `json:"contexts"` // in which it has
	Context  Fields `json:"context"`  // the first of them
	There    Result `json:"there"`
	Here     Result `json:"here"`
}

// Result is the result of a toggle on one side.
type Result struct {
	Enabled bool   `json:"enabled"`
	Variant string `json:"variant,omitempty"`

	Explanation evaluation.Explanation `json:"-"`
}

// Documents evaluates the toggles of both sides for contexts at a time. A toggle that a side does not have is off there,
// as it is for an SDK. Both sides draw the same numbers where a rollout is random.
func Documents(there, here evaluation.Document, contexts []Fields, now time.Time) Report {
	thereEngine, hereEngine := evaluation.New(there), evaluation.New(here)
	all := make([]*evaluation.Context, len(contexts))
	for i, fields := range contexts {
		all[i] = evaluated(fields, now, i)
	}
	names := map[string]bool{}
	for _, f := range slices.Concat(there.Features, here.Features) {
		names[f.Name] = true
	}
	report := Report{Contexts: len(contexts), Toggles: len(names), Differences: []Difference{}}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		var d Difference
		for i, ctx := range all {
			a, b := thereEngine.Evaluate(name, ctx), hereEngine.Evaluate(name, ctx)
			if same(a, b) {
				continue
			}
			if d.Contexts++; d.Contexts == 1 {
				d.Toggle, d.Context = name, contexts[i]
				d.There, d.Here = resultOf(thereEngine.Explain(name, ctx)), resultOf(hereEngine.Explain(name, ctx))
			}
		}
		if d.Contexts > 0 {
			report.Differences = append(report.Differences, d)
		}
	}
	return report
}

// evaluated returns the context with the number i.
func evaluated(fields Fields, now time.Time, i int) *evaluation.Context {
	return &evaluation.Context{
		Fields: fields, Now: now, HostName: fields[HostField],
		Random: func(n uint32) uint32 { return uint32(i) * 7919 % n }, //nolint:gosec // any number suffices
	}
}

// same reports whether an application gets the same.
func same(a, b evaluation.Result) bool {
	if a.Enabled != b.Enabled || (a.Variant == nil) != (b.Variant == nil) {
		return false
	}
	return a.Variant == nil || a.Variant.Name == b.Variant.Name && reflect.DeepEqual(a.Variant.Payload, b.Variant.Payload)
}

func resultOf(e evaluation.Explanation) Result {
	r := Result{Enabled: e.Enabled, Explanation: e}
	if e.Variant != nil {
		r.Variant = e.Variant.Name
	}
	return r
}

// constraintsOf returns the constraints of a strategy and of its segments.
func constraintsOf(d evaluation.Document, s evaluation.Strategy) []toggle.Constraint {
	all := slices.Clone(s.Constraints)
	for _, segment := range d.Segments {
		if slices.Contains(s.Segments, segment.ID) {
			all = append(all, segment.Constraints...)
		}
	}
	return all
}
