package unleash

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"

	"toggleadmin/pkg/operator/transfer"
)

// ErrFormat reports a text that is not an export of Unleash.
var ErrFormat = errors.New("not one of Unleash (POST /api/admin/features-batch/export)")

// export is what Unleash exports: today the toggles of one environment, without times. Up to Unleash 5 it was the state
// of the server (GET /api/admin/state/export), with times, the strategies of all environments, or those of version 1 in
// the toggles, and without context fields.
type export struct {
	Features []struct {
		Name, Project, Type   string
		Description           *string
		ImpressionData        bool
		Stale, Archived       bool
		CreatedAt, ArchivedAt *string
		Strategies            *[]strategy
		Variants              []variant
	}
	FeatureStrategies *[]struct {
		strategy

		FeatureName string
	}
	FeatureEnvironments []struct {
		FeatureName string
		Variants    []variant
	}
	ContextFields []transfer.ContextField
}

// Parse reads what Unleash exports.
func Parse(text []byte) (transfer.Document, error) {
	var e export
	if err := json.Unmarshal(text, &e); err != nil {
		return transfer.Document{}, fmt.Errorf("it is not JSON of the expected form: %w", err)
	}
	if e.Features == nil || !e.hasStrategies() {
		return transfer.Document{}, ErrFormat
	}
	d := transfer.Document{ContextFields: e.ContextFields, Partial: true}
	for i := range d.ContextFields {
		noEmptyDescription(&d.ContextFields[i].Description)
	}
	index := map[string]int{}
	for i, f := range e.Features {
		t := transfer.Toggle{
			Name: f.Name, Project: cmp.Or(f.Project, "default"), Type: cmp.Or(f.Type, "release"),
			Description: f.Description, ImpressionData: f.ImpressionData, Stale: f.Stale, CreatedAt: f.CreatedAt,
			Archived: f.Archived || f.ArchivedAt != nil, ArchivedAt: f.ArchivedAt, ContextFields: fieldsOf(f.Variants),
		}
		noEmptyDescription(&t.Description)
		if f.Strategies != nil {
			addStrategies(&t, *f.Strategies)
		}
		index[f.Name] = i
		d.Features = append(d.Features, t)
	}
	if e.FeatureStrategies != nil {
		for _, s := range *e.FeatureStrategies {
			if i, ok := index[s.FeatureName]; ok {
				addStrategies(&d.Features[i], []strategy{s.strategy})
			}
		}
	}
	for _, environment := range e.FeatureEnvironments {
		if i, ok := index[environment.FeatureName]; ok {
			d.Features[i].ContextFields = append(d.Features[i].ContextFields, fieldsOf(environment.Variants)...)
		}
	}
	return d, nil
}

// hasStrategies reports whether the strategies of the toggles are known.
func (e export) hasStrategies() bool {
	if e.FeatureStrategies != nil {
		return true
	}
	for _, f := range e.Features {
		if f.Strategies == nil {
			return false
		}
	}
	return len(e.Features) > 0
}
