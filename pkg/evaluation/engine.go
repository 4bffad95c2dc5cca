package evaluation

import "toggleadmin/pkg/toggle"

// Engine evaluates the toggles of a Document. It is safe for concurrent use.
type Engine struct {
	features map[string]*feature
	segments map[int64]*segment
}

// Result is the result of a toggle for a context.
type Result struct {
	Enabled bool
	Variant *toggle.Variant // nil: none; it must not be changed
	Reason  Reason
}

// Reason is what decided a Result.
type Reason int

// The reasons. The zero Reason is that of an unknown toggle.
const (
	Unknown     Reason = iota
	SwitchedOff        // the toggle is off for every context
	Static             // it is on for every context
	Split              // a rollout or a variant decided
	Targeting          // dependencies, constraints, segments or parameters decided
)

// New compiles a document, which must not be changed afterwards. It rejects nothing: a value or a parameter that is
// malformed fulfills no condition. If two toggles have the same name, the second one counts.
func New(document Document) *Engine {
	engine := &Engine{
		features: make(map[string]*feature, len(document.Features)),
		segments: make(map[int64]*segment, len(document.Segments)),
	}
	for i := range document.Segments {
		source := &document.Segments[i]
		engine.segments[source.ID] = &segment{source, compileConstraints(source.Constraints)}
	}
	for i := range document.Features {
		source := &document.Features[i]
		engine.features[source.Name] = compileFeature(source, engine.segments)
	}
	for _, feature := range engine.features {
		feature.parents = engine.parentsOf(feature)
	}
	return engine
}

// Enabled reports whether a toggle is on for a context. An unknown toggle is off.
func (e *Engine) Enabled(name string, ctx *Context) bool {
	feature := e.features[name]
	if feature == nil {
		return false
	}
	return feature.decide(ctx).enabled
}

// Evaluate returns the result of a toggle for a context. An unknown toggle is off.
func (e *Engine) Evaluate(name string, ctx *Context) Result {
	feature := e.features[name]
	if feature == nil {
		return Result{}
	}
	return feature.result(ctx)
}
