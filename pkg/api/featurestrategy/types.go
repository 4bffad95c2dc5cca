package featurestrategy

import (
	"net/http"

	"toggleadmin/pkg/platform/lambdahttp"
	"toggleadmin/pkg/toggle"
)

const strategyTypesVersion = 1

// strategyType is a type of strategy in the response.
type strategyType struct {
	Name        string      `json:"name"`
	DisplayName string      `json:"displayName"`
	Title       *string     `json:"title"` // null: types have none
	Description string      `json:"description"`
	Editable    bool        `json:"editable"` // false: types are not changed
	Deprecated  bool        `json:"deprecated"`
	Parameters  []parameter `json:"parameters"`
}

type parameter struct {
	Name        string               `json:"name"`
	Type        toggle.ParameterKind `json:"type"`
	Description string               `json:"description"`
	Required    bool                 `json:"required"`
}

// ListTypes serves GET /api/admin/strategies.
func ListTypes() lambdahttp.HandlerFunc {
	all := []strategyType{}
	for _, t := range toggle.StrategyTypes() {
		parameters := []parameter{}
		for _, p := range t.Parameters {
			parameters = append(parameters, parameter{p.Name, p.Kind, p.Description, p.IsRequired()})
		}
		all = append(all, strategyType{
			Name:        t.Name,
			DisplayName: t.Label,
			Description: t.Description,
			Deprecated:  t.Replacement != "",
			Parameters:  parameters,
		})
	}
	return func(w http.ResponseWriter, _ *http.Request) error {
		return lambdahttp.WriteJSON(w, http.StatusOK, struct {
			Version    int            `json:"version"`
			Strategies []strategyType `json:"strategies"`
		}{strategyTypesVersion, all})
	}
}
