package sdk_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"toggleadmin/pkg/evaluation"
	"toggleadmin/pkg/operator/transfer"
	"toggleadmin/pkg/toggle"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/specification"
)

const (
	goSDK     = "unleash-go-sdk 5"
	ofToggle  = "only strategies have variants"
	oneParent = "a toggle has one parent"
)

// specified are the SDKs that evaluate the states of the client specification.
func specified() []string { return []string{"unleash-client 6", goSDK} }

// Each state of the client specification is imported into a service of its own. SDKs download it, and get the results
// that the specification demands.
func TestClientSpecification(t *testing.T) {
	t.Parallel()
	for _, file := range specification.Files(t) {
		t.Run(file.Name, func(t *testing.T) {
			t.Parallel()
			service := newService(t)
			remarks := service.importState(file.State)
			rejected := rejections()[file.Name]
			for _, f := range file.State.Features {
				text, reason := strings.Join(remarks[f.Name], ", "), rejected[f.Name]
				if (text == "") != (reason == "") || !strings.Contains(text, reason) {
					t.Errorf("%s is rejected because %q, and not because %q", f.Name, text, reason)
				}
			}
			file.Cases = slices.DeleteFunc(file.Cases, func(c specification.Case) bool { return rejected[c.Toggle] != "" })
			for _, sdk := range sdks() {
				if slices.Contains(specified(), sdk.name) && os.Getenv(sdk.installed) != "" {
					checkCases(t, sdk, service, file)
				}
			}
			service.checkStatuses()
		})
	}
}

// rejections returns the toggles of the specification that the service does not store, by the name of the file, with a
// part of the reason.
func rejections() map[string]map[string]string {
	const (
		weights    = "its variants have the total weight 2"
		noValues   = "has 0 values"
		address    = "must be an IP address or a CIDR block"
		expression = "must be a regular expression"
		name       = "its name is not valid"
		dependent  = "the toggle depends on the toggle"
		noVariant  = "the toggle has none of the variants"
	)
	return map[string]map[string]string{
		"06-remote-address-strategy": {"Feature.remoteAddress.C": address},
		"08-variants": {
			"Feature.Variants.A":          ofToggle,
			"Feature.Variants.B":          ofToggle,
			"Feature.Variants.C":          ofToggle,
			"Feature.Variants.D":          ofToggle,
			"Feature.Variants.override.D": ofToggle,
			"Feature.Variants.E":          ofToggle,
			"Feature.Variants.G":          ofToggle,
			"Feature.Variants.H":          ofToggle,
		},
		"09-strategy-constraints": {
			"Feature.constraints.empty":        noValues,
			"Feature.constraints.empty-not-in": noValues,
		},
		"11-strategy-constraints-edge-cases": {
			"Feature.constraints.no_values":        noValues,
			"Feature.constraints.no_values_NOT_IN": noValues,
		},
		"12-custom-stickiness":           {"Feature.flexible.rollout.custom.stickiness_100": ofToggle},
		"13-constraint-operators":        {"F7.invalid-operator": "has an unknown operator"},
		"14-constraint-semver-operators": {"F8.invalidSemverWithLeadingV": "must be a semantic version"},
		"15-global-constraints": {
			"F9.globalSegmentOn":    ofToggle,
			"F9.withMissingSegment": "it uses the segment 404, which was not imported",
		},
		"16-strategy-variants": {
			"Feature.strategy.multiple.variants":                 weights,
			"Feature.strategy.numeric.variants":                  weights,
			"Feature.strategy.variants.stickiness":               weights,
			"Feature.strategy.no.strategy.variants":              ofToggle,
			"Feature.strategy.variant.fallback":                  ofToggle,
			"Feature.strategy.variant.overrides.feature.variant": ofToggle,
		},
		"17-dependent-features": {
			"child.with.cycle":                               dependent,
			"parent.with.cycle":                              dependent,
			"child.with.transitive.dependency":               dependent,
			"multiple.parents.not.satisfied.child.enabled":   oneParent,
			"multiple.parents.satisfied.child.enabled":       oneParent,
			"parent.default.variant.child.enabled":           noVariant,
			"parent.disabled.child.expects.disabled.variant": noVariant,
			"parent.non.matching.variant.child.enabled":      noVariant,
			"parents.not.exist.child.enabled":                "the toggle does not exist here",
		},
		"18-utf8-flag-names": {
			"Feature.UTF-8.Hellø_Wørld":   name,
			"Feature.UTF-8.😊_φriend_你好_🌍": name,
		},
		"21-regex-constraint-operators": {
			"Inverted.constraint":             "is inverted",
			"R90.reject_lookahead":            expression,
			"R91.reject_backreference":        expression,
			"invalid-regex-defaults-to-false": expression,
		},
		"22-cidr-constraint-operators": {
			"CIDR.invalid.only":      address,
			"CIDR.mixed.values":      address,
			"CIDR.ipv6.mixed.values": address,
		},
	}
}

// importState imports a state. It returns why the service does not store toggles as they are, by their names.
func (s *service) importState(state evaluation.Document) (remarks map[string][]string) {
	s.Helper()
	d := transfer.Document{Losses: map[string][]string{}}
	names := map[string]bool{}
	addFields := func(all ...string) {
		for _, name := range all {
			if !names[name] && !toggle.IsFixedField(name) {
				names[name] = true
				d.ContextFields = append(d.ContextFields, transfer.ContextField{Name: name, Stickiness: true})
			}
		}
	}
	for _, segment := range state.Segments {
		for _, c := range segment.Constraints {
			addFields(c.ContextName)
		}
		d.Segments = append(d.Segments, transfer.Segment{
			ID: segment.ID, Name: fmt.Sprint("segment-", segment.ID), Constraints: segment.Constraints,
		})
	}
	for _, f := range state.Features {
		var strategies []toggle.Strategy
		for _, s := range f.Strategies {
			complete(s.Variants)
			strategy := toggle.Strategy{
				Name: s.Name, Constraints: s.Constraints, Parameters: s.Parameters, Variants: s.Variants, Segments: s.Segments,
			}
			addFields(strategy.ContextFields()...)
			strategies = append(strategies, strategy)
		}
		form := toggle.FeatureJSON{Name: f.Name, Project: "default", Type: "release",
			Environments: map[string]toggle.Environment{environment: {Enabled: f.Enabled, Strategies: strategies}}}
		if len(f.Variants) > 0 {
			d.Losses[f.Name] = append(d.Losses[f.Name], ofToggle)
		}
		if len(f.Dependencies) > 0 {
			form.Dependency = &f.Dependencies[0]
		}
		if len(f.Dependencies) > 1 {
			d.Losses[f.Name] = append(d.Losses[f.Name], oneParent)
		}
		d.Features = append(d.Features, form)
	}
	report := s.importDocument(d)
	assert.Equal(s.T, 0, len(report.ContextFields.Skipped)+len(report.Segments.Skipped))
	remarks = map[string][]string{}
	for _, r := range slices.Concat(report.Features.Skipped, report.Features.Losses, report.Features.Notes) {
		if !strings.HasSuffix(r.Text, "one that holds for everybody was added") { // as SDKs evaluate it
			remarks[r.Name] = append(remarks[r.Name], r.Text)
		}
	}
	return remarks
}

// complete sets what the variants of the specification leave out. The weight of a single variant has no effect.
func complete(variants []toggle.Variant) {
	for i := range variants {
		variants[i].WeightType = toggle.WeightVariable
		if len(variants) == 1 {
			variants[i].Weight = toggle.TotalWeight
		}
	}
}

// checkCases waits until an SDK has downloaded the state and has the result of each case.
func checkCases(t *testing.T, sdk sdk, s *service, file specification.File) {
	t.Helper()
	var toggles []requestedToggle
	want := results{}
	for i, c := range file.Cases {
		if toggle := (requestedToggle{c.Toggle, "boolean"}); !slices.Contains(toggles, toggle) {
			toggles = append(toggles, toggle)
		}
		want[fmt.Sprint(i, c.Description)] = demanded(sdk, file, c)
	}
	app := start(t, sdk, s.url, s.token(sdk.token), toggles)
	app.awaitResults("the results that the specification demands of "+sdk.name, want, func() results {
		got := results{}
		for i, c := range file.Cases {
			text := app.evaluate(c.Context)[c.Toggle]
			if c.Variant == nil {
				text, _, _ = strings.Cut(text, " ")
			}
			got[fmt.Sprint(i, c.Description)] = text
		}
		return got
	})
	app.end()
}

// demanded returns the result that a case demands of an SDK.
func demanded(sdk sdk, file specification.File, c specification.Case) string {
	switch {
	case !c.Enabled, sdk.name == goSDK && hasNewOperator(file.State, c.Toggle):
		return "off"
	case c.Variant == nil || !c.Variant.Enabled:
		return "on"
	default:
		return "on " + c.Variant.Name + " " + c.Variant.Payload.Value
	}
}

// hasNewOperator reports whether a toggle has an operator that the SDK for Go does not know, and evaluates as false.
func hasNewOperator(state evaluation.Document, name string) bool {
	unknown := []toggle.Operator{
		toggle.OperatorSemverGte, toggle.OperatorSemverLte, toggle.OperatorRegex, toggle.OperatorInCIDR,
	}
	for _, f := range state.Features {
		for _, strategy := range f.Strategies {
			for _, c := range strategy.Constraints {
				if f.Name == name && slices.Contains(unknown, c.Operator) {
					return true
				}
			}
		}
	}
	return false
}
