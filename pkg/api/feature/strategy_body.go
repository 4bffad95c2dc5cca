package feature

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"toggleadmin/pkg/api/constraint"
	"toggleadmin/pkg/evaluation"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/jsonbody"
	"toggleadmin/pkg/platform/spelling"
	"toggleadmin/pkg/toggle"
)

//go:embed create-strategy.schema.json
var createStrategySchema []byte

//go:embed update-strategy.schema.json
var updateStrategySchema []byte

// strategyBody reads a strategy from a body, and collects what is wrong with it.
type strategyBody struct {
	jsonbody.Object
	violations []string
}

func (b *strategyBody) reject(property, format string, args ...any) {
	b.violations = append(b.violations, fmt.Sprintf("The `/body/%s` property ", property)+fmt.Sprintf(format, args...))
}

// readStrategy returns a strategy with the properties of a body; omitted ones keep their value. old is the strategy that
// is updated, or the zero value. feature is the name of the toggle.
func readStrategy(body jsonbody.Object, old toggle.Strategy, feature string) (toggle.Strategy, error) {
	b := &strategyBody{Object: body}
	next := old
	if name, ok := body.TextOK("name"); ok && name != old.Name {
		if b.checkType(name); b.violations != nil { // the other properties depend on the type
			return toggle.Strategy{}, apierror.New(apierror.Validation, b.violations[0])
		}
		next.Name = name
	}
	if body.Has("title") {
		next.Title = nil
		if title, ok := body.TextOK("title"); ok {
			next.Title = &title
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
	if b.violations != nil {
		return toggle.Strategy{}, apierror.New(apierror.Validation, strings.Join(b.violations, " "))
	}
	return next, nil
}

// ReadStrategy returns the strategy of a body, which is stored nowhere. Its type may be one that cannot be created. The
// kind of its error is Validation.
func ReadStrategy(body jsonbody.Object) (toggle.Strategy, error) {
	return readStrategy(body, toggle.Strategy{Name: body.Text("name")}, "")
}

// checkType rejects types of strategies that cannot be created.
func (b *strategyBody) checkType(name string) {
	t, known := toggle.StrategyTypeOf(name)
	switch {
	case !known:
		b.reject("name", "must be default, flexibleRollout, remoteAddress or applicationHostname; you sent %q.",
			apierror.Echo(name))
	case t.Replacement != "":
		b.reject("name", "must not be %s, which is deprecated. Use %s.", name, t.Replacement)
	}
}

// constraints returns the constraints of the body. ok is false if there are none.
func (b *strategyBody) constraints() (all []toggle.Constraint, ok bool) {
	if !b.Has("constraints") {
		return nil, false
	}
	bodies := b.Objects("constraints")
	if len(bodies) > toggle.MaxConstraints {
		b.violations = append(b.violations, fmt.Sprintf(
			"Failed to create constraints. You can't create more than the established limit of %d.", toggle.MaxConstraints))
		return nil, true
	}
	for i, body := range bodies {
		if len(body.Texts("values")) > toggle.MaxConstraintValues {
			b.violations = append(b.violations, fmt.Sprintf(
				"Failed to create constraint values for %s. You can't create more than the established limit of %d.",
				apierror.Echo(body.Text("contextName")), toggle.MaxConstraintValues))
			continue
		}
		c, violations := constraint.Parse(fmt.Sprintf("/body/constraints/%d", i), body)
		b.violations = append(b.violations, violations...)
		all = append(all, c)
	}
	return all, true
}

// parameters returns the parameters of the body, with the defaults of a type of strategy.
func (b *strategyBody) parameters(strategy, feature string) map[string]string {
	all := toggle.DefaultParameters(strategy, feature)
	sent, _ := b.Object["parameters"].(map[string]any)
	known := slices.Sorted(maps.Keys(all))
	for _, name := range slices.Sorted(maps.Keys(sent)) {
		if _, ok := all[name]; !ok {
			closest := ""
			if name := spelling.Closest(name, known); name != "" {
				closest = "; the closest one is `" + name + "`"
			}
			b.reject("parameters/"+apierror.Echo(name), "is unknown to the strategy %s%s.", strategy, closest)
			continue
		}
		if text, ok := sent[name].(string); ok {
			all[name] = b.parameter(name, text)
		}
	}
	for _, name := range known {
		if _, wasSent := sent[name]; all[name] == "" && !wasSent {
			b.reject("parameters/"+name, "is required by the strategy %s; you did not send it.", strategy)
		}
	}
	return all
}

// parameter returns the stored value of a parameter.
func (b *strategyBody) parameter(name, value string) string {
	property := "parameters/" + name
	switch name {
	case toggle.ParameterRollout, toggle.ParameterPercentage:
		if n, err := strconv.Atoi(value); err != nil || n < 0 || n > 100 || strconv.Itoa(n) != value {
			b.reject(property, "must be a whole number from 0 to 100; you sent %q.", apierror.Echo(value))
		}
	case toggle.ParameterGroupID:
		isASCII := !strings.ContainsFunc(value, func(c rune) bool { return c < ' ' || c > '~' })
		if value == "" || len(value) > toggle.MaxName || !isASCII {
			b.reject(property, "must have 1 to %d printable ASCII characters; you sent %q.", toggle.MaxName,
				apierror.Echo(value))
		}
	case toggle.ParameterStickiness:
		if value == "" || len(value) > toggle.MaxName { // the store reads the field
			b.reject(property, "must be default, random, userId, sessionId or a context field with stickiness; you sent %q.",
				apierror.Echo(value))
		}
	case toggle.ParameterIPs:
		return b.entries(property, value, func(entry string) bool {
			_, errAddress := netip.ParseAddr(entry)
			_, errPrefix := netip.ParsePrefix(entry)
			return errAddress == nil || errPrefix == nil
		}, "an IP address or a CIDR")
	default:
		return b.entries(property, value, func(string) bool { return true }, "")
	}
	return value
}

// entries returns a list of entries, which commas separate, without blanks around them. valid reports whether an entry
// is valid, and what says what it must be.
func (b *strategyBody) entries(property, list string, valid func(string) bool, what string) string {
	var entries []string
	for entry := range strings.SplitSeq(list, ",") {
		entry = strings.TrimSpace(entry)
		if entry == "" {
			continue
		}
		if !valid(entry) {
			b.reject(property, "must be a list of which each entry is %s; you sent %q.", what, apierror.Echo(entry))
		}
		entries = append(entries, entry)
	}
	if len(entries) == 0 {
		b.reject(property, "must have at least one entry.")
	}
	return strings.Join(entries, ",")
}

// variants returns the variants of a strategy: those of the body, or otherwise the old ones.
func (b *strategyBody) variants(old []toggle.Variant, s toggle.Strategy) []toggle.Variant {
	stickiness := s.Parameters[toggle.ParameterStickiness]
	all := slices.Clone(old)
	if b.Has("variants") {
		all = nil
		for i, body := range b.Objects("variants") {
			all = append(all, b.variant(fmt.Sprintf("variants/%d", i), body, stickiness))
		}
		slices.SortFunc(all, func(a, b toggle.Variant) int { return strings.Compare(a.Name, b.Name) })
		b.spread(all)
	}
	if len(all) > 0 && s.Name != toggle.StrategyFlexibleRollout {
		b.reject("variants", "must be empty: only the strategy flexibleRollout has variants.")
	}
	for i := range all {
		all[i].Stickiness = stickiness
		if i > 0 && all[i].Name == all[i-1].Name {
			b.reject("variants", "must have different names; you sent %q twice.", apierror.Echo(all[i].Name))
		}
	}
	return all
}

func (b *strategyBody) variant(property string, body jsonbody.Object, stickiness string) toggle.Variant {
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
		b.reject(property+"/stickiness", "must be that of the strategy, %q; you sent %q.", stickiness, apierror.Echo(sent))
	}
	payload, ok := body["payload"].(map[string]any)
	if !ok {
		return v
	}
	v.Payload = &toggle.Payload{Type: jsonbody.Object(payload).Text("type"), Value: jsonbody.Object(payload).Text("value")}
	if v.Payload.Type == "json" && !json.Valid([]byte(v.Payload.Value)) {
		b.reject(property+"/payload/value", "must be valid JSON if the type is json.")
	}
	if v.Payload.Type == "number" && evaluation.CheckValue(toggle.OperatorNumEq, v.Payload.Value) != nil {
		b.reject(property+"/payload/value", "must be a number if the type is number; you sent %q.",
			apierror.Echo(v.Payload.Value))
	}
	return v
}

// spread sets the weights of variable variants: what the fixed ones leave of the total, in equal parts. The first ones
// get the remainder.
func (b *strategyBody) spread(all []toggle.Variant) {
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
		b.reject("variants", "must have at least one variant with the weightType variable.")
		return
	case rest < 0:
		b.reject("variants", "must have fixed weights of at most %d in total.", toggle.TotalWeight)
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
func (b *strategyBody) segments() []int64 {
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
		b.violations = append(b.violations, fmt.Sprintf("Strategies may not have more than %d segments.",
			toggle.MaxStrategySegments))
	}
	return ids
}
