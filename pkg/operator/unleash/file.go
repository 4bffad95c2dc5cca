package unleash

import (
	"encoding/json"
	"errors"
	"fmt"

	"toggleadmin/pkg/operator/transfer"
)

// ErrFormat reports a text that is not an export of Unleash.
var ErrFormat = errors.New("not one of Unleash (POST /api/admin/features-batch/export)")

// Parse reads what Unleash exports. It contains neither types nor times.
func Parse(text []byte) (transfer.Document, error) {
	var export struct {
		Features []struct {
			Name, Project, Type string
			Description         *string
			ImpressionData      bool
			Stale, Archived     bool
		}
		FeatureStrategies *[]struct {
			strategy

			FeatureName string
		}
		ContextFields []transfer.ContextField
	}
	if err := json.Unmarshal(text, &export); err != nil {
		return transfer.Document{}, fmt.Errorf("it is not JSON of the expected form: %w", err)
	}
	if export.Features == nil || export.FeatureStrategies == nil {
		return transfer.Document{}, ErrFormat
	}
	fields := map[string][]string{}
	for _, s := range *export.FeatureStrategies {
		fields[s.FeatureName] = append(fields[s.FeatureName], s.fields()...)
	}
	d := transfer.Document{ContextFields: export.ContextFields, Partial: true}
	for i := range d.ContextFields {
		noEmptyDescription(&d.ContextFields[i].Description)
	}
	for _, f := range export.Features {
		t := transfer.Toggle{
			Name: f.Name, Project: f.Project, Type: f.Type, Description: f.Description, ImpressionData: f.ImpressionData,
			Stale: f.Stale, Archived: f.Archived, ContextFields: fields[f.Name],
		}
		noEmptyDescription(&t.Description)
		d.Features = append(d.Features, t)
	}
	return d, nil
}
