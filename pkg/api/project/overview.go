package project

import (
	"maps"
	"net/http"
	"slices"

	"golang.org/x/sync/errgroup"

	"toggleadmin/pkg/api/environment"
	"toggleadmin/pkg/api/favorite"
	"toggleadmin/pkg/api/protection"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/lambdahttp"
)

// overview is projectOverviewSchema in api/openapi.yaml.
type overview struct {
	eventData

	Version      int                  `json:"version"`
	Members      int                  `json:"members"`
	Environments []projectEnvironment `json:"environments"`
	TypeCounts   []typeCount          `json:"featureTypeCounts"`
	Owners       []owner              `json:"owners"`
	CreatedAt    *string              `json:"createdAt"`
	UpdatedAt    *string              `json:"updatedAt"`
	ArchivedAt   *string              `json:"archivedAt"`
	Onboarding   onboarding           `json:"onboardingStatus"`
	Favorite     bool                 `json:"favorite"` // of the caller
}

type projectEnvironment struct {
	Environment           string `json:"environment"`
	ChangeRequestsEnabled bool   `json:"changeRequestsEnabled"`
}

type typeCount struct {
	Type  string `json:"type"`
	Count int    `json:"count"`
}

type onboarding struct {
	Status  string `json:"status"`            // onboarding-started, first-flag-created or onboarded
	Feature string `json:"feature,omitempty"` // with first-flag-created
}

// Overview serves GET /api/admin/projects/{projectId}/overview.
func Overview(projects *Store, environments *environment.Store) lambdahttp.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) error {
		ctx := r.Context()
		p, err := access.VisibleProject(ctx, r.PathValue("projectId"))
		if err != nil {
			return err
		}
		var all []environment.Environment
		var numbers map[string]counts
		var people directory
		var favorites favorite.Favorites
		var reads errgroup.Group // at the same time
		reads.Go(func() (err error) {
			all, err = environments.List(ctx)
			return err
		})
		reads.Go(func() (err error) {
			numbers, err = projects.count(ctx)
			return err
		})
		reads.Go(func() (err error) {
			people, err = projects.readDirectory(ctx, []*access.Project{p})
			return err
		})
		reads.Go(func() (err error) {
			favorites, err = projects.favorites.Get(ctx)
			return err
		})
		if err := reads.Wait(); err != nil {
			return err
		}
		n := numbers[p.ID]
		body := overview{
			eventData:    newEventData(p),
			Version:      listVersion,
			Members:      people.members(p),
			Environments: []projectEnvironment{},
			TypeCounts:   []typeCount{},
			Owners:       people.owners(p),
			CreatedAt:    formatted(p.CreatedAt),
			UpdatedAt:    formatted(p.UpdatedAt),
			ArchivedAt:   formatted(p.ArchivedAt),
			Onboarding:   n.onboarding(),
			Favorite:     favorites.Has(favorite.Project(p)),
		}
		for _, e := range all {
			if p.HasEnvironment(e.Name) {
				body.Environments = append(body.Environments, projectEnvironment{e.Name, protection.RequiredApprovals(p, e) > 0})
			}
		}
		for _, name := range slices.Sorted(maps.Keys(n.types)) {
			body.TypeCounts = append(body.TypeCounts, typeCount{name, n.types[name]})
		}
		w.Header().Set("ETag", etag(p))
		return lambdahttp.WriteJSON(w, http.StatusOK, body)
	}
}

// onboarding returns how far a project is: it has no toggle, an application has not used any, or it has.
func (n counts) onboarding() onboarding {
	switch {
	case n.active == 0:
		return onboarding{Status: "onboarding-started"}
	case !n.used:
		return onboarding{"first-flag-created", n.first}
	}
	return onboarding{Status: "onboarded"}
}
