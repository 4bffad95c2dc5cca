package featurestrategy

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/jsonbody"
	"toggleadmin/pkg/toggle"
)

// Replaced returns a toggle whose strategies in an environment are bodies of Create, in this order. A strategy that is
// equal to a body stays. Each of the other bodies changes the first strategy that is left, or adds one; strategies that
// are left after that are removed. Its switch does not change, so the toggle can be on without a strategy that is enabled.
// The kind of its error is Validation, and its places are below /body/0 and so on.
func Replaced(
	f toggle.Feature, environment string, bodies []jsonbody.Object, newID func() string,
) (toggle.Feature, error) {
	e := f.Environments[environment]
	left := slices.Clone(e.Strategies)
	next := make([]*toggle.Strategy, len(bodies))
	for i, body := range bodies {
		isEqual := func(old toggle.Strategy) bool {
			s, err := readStrategy(complete(body), old, f.Name)
			return err == nil && reflect.DeepEqual(s.Normalized(), old.Normalized())
		}
		if j := slices.IndexFunc(left, isEqual); j >= 0 {
			next[i] = new(left[j])
			left = slices.Delete(left, j, j+1)
		}
	}
	order := NextSortOrder(e)
	replaced := toggle.Environment{Enabled: e.Enabled}
	for i, body := range bodies {
		if next[i] == nil {
			old := toggle.Strategy{SortOrder: order}
			if len(left) > 0 {
				old, left = left[0], left[1:]
			} else {
				old.ID = newID()
			}
			s, err := readStrategy(complete(body), old, f.Name)
			if err != nil {
				return f, apierror.Below(fmt.Sprintf("/body/%d", i), err)
			}
			next[i] = &s
		}
		if err := Add(&replaced, *next[i]); err != nil {
			return f, err
		}
	}
	isInOrder := slices.IsSortedFunc(replaced.Strategies, func(a, b toggle.Strategy) int {
		return cmp.Or(cmp.Compare(a.SortOrder, b.SortOrder), cmp.Compare(a.ID, b.ID))
	})
	for i := range replaced.Strategies {
		if !isInOrder {
			replaced.Strategies[i].SortOrder = int32(i)
		}
	}
	f.SetEnvironment(environment, replaced)
	return f, nil
}

// complete returns a body of Create in which the properties that were omitted have their default.
func complete(body jsonbody.Object) jsonbody.Object {
	whole := jsonbody.Object{
		"title": nil, "disabled": false, "constraints": []any{}, "parameters": map[string]any{}, "variants": []any{},
		"segments": []any{},
	}
	maps.Copy(whole, body)
	return whole
}
