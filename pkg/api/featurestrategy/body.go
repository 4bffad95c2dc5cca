package featurestrategy

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"toggleadmin/pkg/api/constraint"
	"toggleadmin/pkg/evaluation"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/jsonbody"
	"toggleadmin/pkg/platform/spelling"
	"toggleadmin/pkg/toggle"
)

//go:embed create.schema.json
var createSchema []byte

//go:embed update.schema.json
var updateSchema []byte

// form reads a strategy from a body, and collects what is wrong with it. What an import has stored is beyond
// some limits; a change can keep it.
type form struct {
	jsonbody.Object
	old        toggle.Strategy // that is changed
	maxValues  int             // of a constraint
	violations []apierror.Detail
}

// reject adds what is wrong with a property, as apierror.At does.
func (b *form) reject(property, format string, args ...any) {
	b.violations = append(b.violations, apierror.At("/body/"+property, format, args...))
}

// rejectSent adds what is wrong with a property that has a text.
func (b *form) rejectSent(sent, property, format string, args ...any) {
	b.violations = append(b.violations, apierror.At("/body/"+property, format, args...).Sent(sent))
}

// readStrategy returns a strategy with the properties of a body; omitted ones keep their value. old is the strategy
// that is updated, or the zero value. feature is the name of the toggle.
func readStrategy(body jsonbody.Object, old toggle.Strategy, feature string) (toggle.Strategy, error) {
	b := &form{Object: body, old: old, maxValues: toggle.MaxConstraintValues}
	return b.read(feature)
}

// read returns the strategy of the body.
func (b *form) read(feature string) (toggle.Strategy, error) {
	body, old := b.Object, b.old
	next := old
	if name, ok := body.TextOK("name"); ok && name != old.Name {
		if b.checkType(name); b.violations != nil { // the other properties depend on the type
			return toggle.Strategy{}, apierror.Invalid(b.violations...)
		}
		next.Name = name
	}
	if body.Has("title") {
		next.Title = nil
		if title := body.Text("title"); title != "" {
			next.Title = &title
			if !toggle.IsReadable(title) {
				b.reject("title", "must have a visible character and no control characters")
			}
		}
	}
	if body.Has("disabled") {
		next.Disabled = body.Bool("disabled")
	}
	if order, ok := body.Int("sortOrder"); ok {
		next.SortOrder = int32(order) //nolint:gosec // the schema limits it
	}
	if constraints, ok := b.constraints(); ok {
		next.Constraints = constraints
	}
	if body.Has("parameters") || next.Name != old.Name {
		next.Parameters = b.parameters(next.Name, feature)
	}
	next.Variants = b.variants(old.Variants, next)
	if body.Has("segments") {
		next.Segments = b.segments()
	}
	return next, apierror.InvalidIfAny(b.violations)
}

// Read returns the strategy of a body, which is stored nowhere. Its type may be one that cannot be created. The
// kind of its error is Validation.
func Read(body jsonbody.Object) (toggle.Strategy, error) {
	b := &form{Object: body, old: toggle.Strategy{Name: body.Text("name")}, maxValues: toggle.MaxImportedValues}
	return b.read("")
}

// checkType rejects types of strategies that cannot be created.
func (b *form) checkType(name string) {
	t, known := toggle.StrategyTypeOf(name)
	switch {
	case !known:
		b.rejectSent(name, "name", "must be default, flexibleRollout, remoteAddress or applicationHostname")
	case t.Replacement != "":
		b.reject("name", "must not be %s, which is deprecated. Use %s", name, t.Replacement)
	}
}

// constraints returns the constraints of the body. ok is false if there are none.
func (b *form) constraints() (all []toggle.Constraint, ok bool) {
	if !b.Has("constraints") {
		return nil, false
	}
	bodies := b.Objects("constraints")
	if len(bodies) > toggle.MaxConstraints {
		b.reject("constraints", "has %d elements, and the limit is %d. Move some into a segment", len(bodies),
			toggle.MaxConstraints)
		return nil, true
	}
	for i, body := range bodies {
		if n, most := len(body.Texts("values")), b.mostValues(body); n > most {
			b.reject(fmt.Sprintf("constraints/%d/values", i),
				"has %d elements, and the limit is %d. Use a segment, which can have more", n, most)
			continue
		}
		c, violations := constraint.Parse(fmt.Sprintf("/body/constraints/%d", i), body)
		b.violations = append(b.violations, violations...)
		all = append(all, c)
	}
	return all, true
}

// mostValues returns the maximum number of values of a constraint of the body. A longer list that an import has stored
// can be kept and shortened.
func (b *form) mostValues(body jsonbody.Object) int {
	most := b.maxValues
	for _, c := range b.old.Constraints {
		if c.ContextName == body.Text("contextName") && string(c.Operator) == body.Text("operator") {
			most = max(most, len(c.Values))
		}
	}
	return most
}

// parameters returns the parameters of the body, with the defaults of a type of strategy.
func (b *form) parameters(strategy, feature string) map[string]string {
	all := toggle.DefaultParameters(strategy, feature)
	sent, _ := b.Object["parameters"].(map[string]any)
	known := slices.Sorted(maps.Keys(all))
	for _, name := range slices.Sorted(maps.Keys(sent)) {
		if _, ok := all[name]; !ok {
			closest := ""
			if name := spelling.Closest(name, known); name != "" {
				closest = "; the closest one is `" + name + "`"
			}
			b.reject(jsonbody.Join("parameters", apierror.Echo(name)), "is unknown to the strategy %s%s", strategy, closest)
			continue
		}
		if text, ok := sent[name].(string); ok {
			all[name] = b.parameter(strategy, name, text)
		}
	}
	for _, name := range known {
		if _, wasSent := sent[name]; all[name] == "" && !wasSent {
			b.reject("parameters/"+name, "is required by the strategy %s; you did not send it", strategy)
		}
	}
	return all
}

// parameter returns the stored value of a parameter: a list has no blanks around its entries. A value that does not
// change is valid: an import has stored it.
func (b *form) parameter(strategy, name, value string) string {
	if before, stored := b.old.Parameters[name]; stored && before == value && b.old.Name == strategy {
		return value
	}
	property := "parameters/" + name
	if name == toggle.ParameterStickiness && (value == "" || len(value) > toggle.MaxName) { // the store reads the field
		b.rejectSent(value, property, "must be default, random, userId, sessionId or a context field with stickiness")
	}
	err := evaluation.CheckParameter(name, value)
	if invalid, ok := errors.AsType[*evaluation.EntryError](err); ok {
		b.reject(property, "has the entry %q, which %v", apierror.Echo(invalid.Entry), invalid.Err)
	} else if err != nil {
		b.rejectSent(value, property, "%v", err)
	}
	switch name {
	case toggle.ParameterIPs, toggle.ParameterHostNames, toggle.ParameterUserIDs:
		return strings.Join(evaluation.Entries(value), ",")
	default:
		return value
	}
}

// variants returns the variants of a strategy: those of the body, or otherwise the old ones.
func (b *form) variants(old []toggle.Variant, s toggle.Strategy) []toggle.Variant {
	stickiness := s.Parameters[toggle.ParameterStickiness]
	all := slices.Clone(old)
	if b.Has("variants") {
		all = nil
		for i, body := range b.Objects("variants") {
			all = append(all, b.variant(fmt.Sprintf("variants/%d", i), body, stickiness))
		}
		sortVariants(all, old)
		b.spread(all)
	}
	if len(all) > 0 && s.Name != toggle.StrategyFlexibleRollout {
		b.reject("variants", "must be empty: only the strategy flexibleRollout has variants")
	}
	for i := range all {
		all[i].Stickiness = stickiness
		if i > 0 && all[i].Name == all[i-1].Name {
			b.reject("variants", "must have different names; you sent %q twice", apierror.Echo(all[i].Name))
		}
	}
	return all
}

// sortVariants sorts variants by name. If the old ones have another order, in which an import has stored them, they keep
// it, and new ones follow: the order decides who gets which variant.
func sortVariants(all, old []toggle.Variant) {
	byName := func(a, b toggle.Variant) int { return strings.Compare(a.Name, b.Name) }
	if slices.IsSortedFunc(old, byName) {
		slices.SortFunc(all, byName)
		return
	}
	position := func(v toggle.Variant) int {
		if i := slices.IndexFunc(old, func(o toggle.Variant) bool { return o.Name == v.Name }); i >= 0 {
			return i
		}
		return len(old)
	}
	slices.SortFunc(all, func(a, b toggle.Variant) int {
		return cmp.Or(cmp.Compare(position(a), position(b)), byName(a, b))
	})
}

func (b *form) variant(property string, body jsonbody.Object, stickiness string) toggle.Variant {
	weight, _ := body.Int("weight")
	v := toggle.Variant{
		Name:       body.Text("name"),
		Weight:     int(weight),
		WeightType: toggle.WeightType(body.Text("weightType")),
	}
	if v.WeightType == "" {
		v.WeightType = toggle.WeightVariable
	}
	if sent, ok := body.TextOK("stickiness"); ok && sent != stickiness {
		b.rejectSent(sent, property+"/stickiness", "must be that of the strategy, %q", stickiness)
	}
	payload, ok := body["payload"].(map[string]any)
	if !ok {
		return v
	}
	v.Payload = &toggle.Payload{Type: jsonbody.Object(payload).Text("type"), Value: jsonbody.Object(payload).Text("value")}
	if v.Payload.Type == "json" && !json.Valid([]byte(v.Payload.Value)) {
		b.reject(property+"/payload/value", "must be valid JSON if the type is json")
	}
	if v.Payload.Type == "number" && evaluation.CheckValue(toggle.OperatorNumEq, v.Payload.Value) != nil {
		b.rejectSent(v.Payload.Value, property+"/payload/value", "must be a number if the type is number")
	}
	return v
}

// spread sets the weights of variable variants: what the fixed ones leave of the total, in equal parts. The first ones
// get the remainder.
func (b *form) spread(all []toggle.Variant) {
	rest, variable := toggle.TotalWeight, 0
	for _, v := range all {
		if v.WeightType == toggle.WeightFixed {
			rest -= v.Weight
		} else {
			variable++
		}
	}
	switch {
	case len(all) == 0:
		return
	case variable == 0:
		b.reject("variants", "must have at least one variant with the weightType variable")
		return
	case rest < 0:
		b.reject("variants", "must have fixed weights of at most %d in total", toggle.TotalWeight)
		return
	}
	share, remainder := rest/variable, rest%variable
	for i := range all {
		if all[i].WeightType == toggle.WeightFixed {
			continue
		}
		all[i].Weight = share
		if remainder > 0 {
			all[i].Weight++
			remainder--
		}
	}
}

// segments returns the ids of the segments of the body.
func (b *form) segments() []int64 {
	list, _ := b.Object["segments"].([]any)
	var ids []int64
	for _, element := range list {
		number, _ := element.(json.Number)
		if id, ok := jsonbody.Integer(number); ok {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	if len(ids) > toggle.MaxStrategySegments {
		b.reject("segments", "has %d different elements, and the limit is %d. Combine some", len(ids),
			toggle.MaxStrategySegments)
	}
	return ids
}
