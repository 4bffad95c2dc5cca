package seed

import (
	"context"
	"encoding/json"
	"time"

	"toggleadmin/pkg/api/changerequest"
	"toggleadmin/pkg/api/codereference"
	"toggleadmin/pkg/api/favorite"
	"toggleadmin/pkg/api/project"
	"toggleadmin/pkg/api/tagtype"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/toggle"
)

const (
	areaTag    = "area" // the tag type of the history
	repository = "https://github.com/example/shop"
	askedFor   = "pay-refunds" // the toggle that the change request turns on
)

// owners returns who owns the toggles: teams that have no group, except one.
func owners() map[string]toggle.Owner {
	team := func(name string) toggle.Owner { return toggle.Owner{Kind: toggle.OwnerText, Name: "Team " + name} }
	group := toggle.Owner{Kind: toggle.OwnerGroup, ID: 1} // paymentsTeam
	return map[string]toggle.Owner{
		"beta-access":     team("Web"),
		"dark-mode":       team("Web"),
		"legacy-login":    team("Identity"),
		"new-checkout":    team("Checkout"),
		"old-banner":      team("Marketing"),
		"pay-fraud-check": group,
		"pay-refunds":     group,
		"rate-limit":      team("Platform"),
		"search-ranking":  team("Search"),
		"stop-payments":   team("Payments"),
		"yearly-prices":   team("Pricing"),
	}
}

// care adds what people keep about toggles: tags, links, a date, code references and favorites. A change request waits
// for an approval.
func (h *history) care() []change {
	return []change{
		{43, admin, h.createTagType},
		{42, admin, h.tag("new-checkout", "checkout")},
		{42, admin, h.tag("stop-payments", "payments")},
		{36, admin, h.tag("search-ranking", "search")},
		{41, editor, h.update("new-checkout", func(f *toggle.Feature) {
			f.Links = []toggle.Link{{ID: "design", URL: "https://example.com/design/checkout", Title: new("Design")}}
		})},
		{28, ci, h.reportReferences(map[string][]codereference.Place{
			"new-checkout": {{Path: "web/checkout.js", Line: 12}}, "old-banner": {{Path: "web/home.js", Line: 40}},
		})},
		{2, ci, h.reportReferences(map[string][]codereference.Place{
			"new-checkout":  {{Path: "web/checkout.js", Line: 14}, {Path: "web/cart.js", Line: 73}},
			"stop-payments": {{Path: "payments/payment.go", Line: 31}},
		})},
		{6, editor, h.update("beta-access", func(f *toggle.Feature) {
			f.Keep = &toggle.Keep{
				Until: h.now.AddDate(0, 0, 45).Truncate(24 * time.Hour), Reason: "The beta program goes on until then.",
			}
		})},
		{5, admin, h.star},
		{4, editor, h.protect},
		{1, by(ada), h.ask},
	}
}

func (h *history) createTagType(ctx context.Context) error {
	return unlessExists(h.stores.tagTypes.Create(ctx, tagtype.TagType{
		Name: areaTag, Description: "The area of the product", Color: new("#1d7afc"),
	}))
}

func (h *history) tag(name, area string) func(context.Context) error {
	return h.update(name, func(f *toggle.Feature) {
		f.Tags = toggle.NormalizedTags(append(f.Tags, toggle.Tag{Type: areaTag, Value: area}))
	})
}

// reportReferences stores a report of the repository, unless a newer one is stored.
func (h *history) reportReferences(places map[string][]codereference.Place) func(context.Context) error {
	return func(ctx context.Context) error {
		_, _, _, err := h.stores.references.Put(ctx,
			codereference.Report{Project: "shop", Repository: repository, RevisionAt: h.at, Places: places})
		if apierror.KindOf(err) == apierror.Conflict {
			return nil
		}
		return err
	}
}

// star makes a toggle and a project favorites of the administrator.
func (h *history) star(ctx context.Context) error {
	ctx = access.WithPrincipal(ctx, access.Principal{UserID: admin.UserID})
	f, err := h.stores.features.Get(ctx, "new-checkout")
	if err != nil {
		return err
	}
	if err := h.stores.favorites.Add(ctx, favorite.Feature(f)); err != nil {
		return err
	}
	p, err := h.stores.access.Project(ctx, payments)
	if err != nil {
		return err
	}
	return h.stores.favorites.Add(ctx, favorite.Project(p))
}

// protect makes changes of the production of payments need an approval.
func (h *history) protect(ctx context.Context) error {
	return h.stores.projects.SetConfig(ctx, payments, production,
		access.Protection{ChangeRequests: true, RequiredApprovals: 1}, project.Always)
}

// ask makes a change request that waits for an approval. The first call may have ended between its steps.
func (h *history) ask(ctx context.Context) error {
	all, err := h.stores.requests.List(ctx)
	if err != nil || len(all) > 0 && all[0].State != changerequest.Draft {
		return err
	}
	if ctx, err = h.stores.requests.As(ctx, ada.ID); err != nil {
		return err
	}
	if len(all) == 0 {
		payload, err := json.Marshal(map[string]bool{"enabled": true})
		if err != nil {
			return err
		}
		by := changerequest.Person{ID: ada.ID}
		r, err := h.stores.requests.AddChanges(ctx,
			changerequest.Request{Project: payments, Environment: production, Title: "Refunds for everybody", CreatedBy: by, CreatedAt: h.at},
			[]changerequest.Change{{
				Action: changerequest.UpdateEnabled, Feature: askedFor, Payload: payload, CreatedBy: by, CreatedAt: h.at,
			}}, []string{"/body"})
		if err != nil {
			return err
		}
		all = []changerequest.Request{r}
	}
	_, err = h.stores.requests.Become(ctx, payments, all[0].ID, changerequest.Asked{State: changerequest.InReview}, "",
		func(changerequest.Request) error { return nil })
	return err
}
