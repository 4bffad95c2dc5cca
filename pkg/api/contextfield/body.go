package contextfield

import (
	"fmt"

	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/jsonbody"
)

// fromBody returns the field that a body describes. Without sortOrder, the field comes after all others.
func fromBody(name string, body jsonbody.Object) ContextField {
	order, sent := body.Int("sortOrder")
	f := ContextField{
		Name:        name,
		Description: sentDescription(body),
		Stickiness:  body.Bool("stickiness"),
		SortOrder:   order,
		Last:        !sent,
	}
	for _, v := range body.Objects("legalValues") {
		f.LegalValues = append(f.LegalValues, LegalValue{Value: v.Text("value"), Description: sentDescription(v)})
	}
	return f
}

func sentDescription(o jsonbody.Object) *string {
	if text, ok := o.TextOK("description"); ok {
		return &text
	}
	return nil
}

// Rules returns the rules for the bodies of Create and Update.
func Rules() []jsonbody.Rule { return []jsonbody.Rule{uniqueValues} }

// uniqueValues is the rule that a legal value occurs once. It names the later ones.
func uniqueValues(body jsonbody.Object) (violations []apierror.Detail) {
	seen := map[string]bool{}
	for i, v := range body.Objects("legalValues") {
		value, valid := v.TextOK("value")
		if valid && seen[value] {
			violations = append(violations,
				apierror.At(fmt.Sprintf("/body/legalValues/%d/value", i), "must be unique among the legal values").Sent(value))
		}
		seen[value] = true
	}
	return violations
}
