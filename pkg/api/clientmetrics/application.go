package clientmetrics

import (
	"cmp"
	"maps"
	"math"
	"net/http"
	"slices"
	"strings"

	"toggleadmin/pkg/delivery/usage"
	"toggleadmin/pkg/delivery/usagetable"
	"toggleadmin/pkg/platform/datetime"
	"toggleadmin/pkg/platform/lambdahttp"
)

// application is applicationSchema in api/openapi.yaml.
type application struct {
	AppName      string                   `json:"appName"`
	CreatedAt    string                   `json:"createdAt"`
	LastSeenAt   string                   `json:"lastSeenAt"`
	Projects     []string                 `json:"projects"`
	Strategies   []string                 `json:"strategies"`
	Environments []applicationEnvironment `json:"environments"` // ordered by name
}

// applicationEnvironment is what is known of an application in an environment.
type applicationEnvironment struct {
	Name          string   `json:"name"`
	InstanceCount int      `json:"instanceCount"`
	SDKs          []string `json:"sdks"`
	LastSeenAt    string   `json:"lastSeenAt"`
}

func newApplication(a usagetable.Application) application {
	response := application{
		AppName:      a.Name,
		CreatedAt:    datetime.Format(a.CreatedAt),
		LastSeenAt:   datetime.Format(a.SeenAt),
		Projects:     append([]string{}, a.Projects...),
		Strategies:   append([]string{}, a.Strategies...),
		Environments: []applicationEnvironment{},
	}
	for _, name := range slices.Sorted(maps.Keys(a.Environments)) {
		e := a.Environments[name]
		response.Environments = append(response.Environments, applicationEnvironment{
			Name:          name,
			InstanceCount: e.Instances,
			SDKs:          append([]string{}, e.SDKs...),
			LastSeenAt:    datetime.Format(e.SeenAt),
		})
	}
	return response
}

const (
	maxText      = 1000 // characters
	defaultLimit = 50
	maxLimit     = 100
)

// ListApplications serves GET /api/admin/metrics/applications.
func ListApplications(metrics *Reader) lambdahttp.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) error {
		q := lambdahttp.NewQuery(r)
		text := strings.ToLower(q.Text("query", maxText))
		by := q.OneOf("sortBy", "appName", "createdAt", "lastSeenAt")
		descending := q.OneOf("sortOrder", "asc", "desc") == "desc"
		offset := q.Number("offset", 0, 0, math.MaxInt32)
		limit := q.Number("limit", defaultLimit, 1, maxLimit)
		if err := q.Err(); err != nil {
			return err
		}
		all, err := metrics.Applications(r.Context())
		if err != nil {
			return err
		}
		all = slices.DeleteFunc(all, func(a usagetable.Application) bool {
			return !strings.Contains(strings.ToLower(a.Name), text)
		})
		sortApplications(all, by, descending)
		first := min(offset, len(all))
		page := all[first:min(first+limit, len(all))]
		applications := make([]application, len(page))
		for i, a := range page {
			applications[i] = newApplication(a)
		}
		return lambdahttp.WriteJSON(w, http.StatusOK, struct {
			Applications []application `json:"applications"`
			Total        int           `json:"total"`
		}{applications, len(all)})
	}
}

// sortApplications sorts applications. Those with the same key are ordered by name.
func sortApplications(all []usagetable.Application, by string, descending bool) {
	slices.SortFunc(all, func(a, b usagetable.Application) int {
		name := cmp.Compare(a.Name, b.Name)
		order := name
		switch by {
		case "createdAt":
			order = a.CreatedAt.Compare(b.CreatedAt)
		case "lastSeenAt":
			order = a.SeenAt.Compare(b.SeenAt)
		}
		if descending {
			order = -order
		}
		return cmp.Or(order, name)
	})
}

// applicationDetails is applicationDetailsSchema in api/openapi.yaml.
type applicationDetails struct {
	application
	Instances   []instance    `json:"instances"`   // ordered by environment, then by id
	SeenToggles []seenFeature `json:"seenToggles"` // ordered by name
}

// instance is a process of an application in an environment.
type instance struct {
	InstanceID  string  `json:"instanceId"`
	Environment string  `json:"environment"`
	SDKVersion  *string `json:"sdkVersion"`
	SDKType     string  `json:"sdkType"`
	LastSeenAt  string  `json:"lastSeenAt"`
}

// seenFeature is a name that an application used.
type seenFeature struct {
	Name         string   `json:"name"`
	NotFound     bool     `json:"notFound"`
	Project      *string  `json:"project"` // nil: no toggle has the name
	Environments []string `json:"environments"`
}

// GetApplication serves GET /api/admin/metrics/applications/{appName}.
func GetApplication(metrics *Reader) lambdahttp.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) error {
		name, err := lambdahttp.PathParam(r, "appName")
		if err != nil || len(name) > maxSortKey {
			return unknownApplication(name)
		}
		a, err := metrics.Application(r.Context(), name)
		if err != nil {
			return err
		}
		response := applicationDetails{
			application: newApplication(a.Application),
			Instances:   []instance{},
			SeenToggles: []seenFeature{},
		}
		for _, environment := range slices.Sorted(maps.Keys(a.Instances)) {
			instances := a.Instances[environment]
			for _, id := range slices.Sorted(maps.Keys(instances)) {
				response.Instances = append(response.Instances, newInstance(id, environment, instances[id]))
			}
		}
		for _, feature := range slices.Sorted(maps.Keys(a.Features)) {
			seen := seenFeature{Name: feature, NotFound: true, Environments: slices.Sorted(maps.Keys(a.Features[feature]))}
			if project, ok := a.Existing[feature]; ok {
				seen.NotFound, seen.Project = false, &project
			}
			response.SeenToggles = append(response.SeenToggles, seen)
		}
		return lambdahttp.WriteJSON(w, http.StatusOK, response)
	}
}

// maxSortKey is the maximum length of a sort key in DynamoDB, in bytes.
const maxSortKey = 1024

func newInstance(id, environment string, i usage.Instance) instance {
	response := instance{
		InstanceID: id, Environment: environment, SDKType: "backend", LastSeenAt: datetime.Format(i.SeenAt),
	}
	if i.SDK != "" {
		response.SDKVersion = &i.SDK
	}
	if i.Frontend {
		response.SDKType = "frontend"
	}
	return response
}
