package transfer

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/toggle"
)

// owners are the ids of the people and the groups that can own toggles, by kind and by their names in documents. In a dry
// run, those that the import would create have the id 0.
type owners map[toggle.OwnerKind]map[string]int64

// owner returns an owner as documents contain it: with the name of a person or a group instead of the id, which is that of
// one installation. One that does not exist any more is left out.
func (n names) owner(o *toggle.Owner) *toggle.Owner {
	if o == nil || o.Kind == toggle.OwnerText {
		return o
	}
	of := n.accounts
	if o.Kind == toggle.OwnerGroup {
		of = n.groups
	}
	name, exists := of[o.ID]
	if !exists {
		return nil
	}
	return &toggle.Owner{Kind: o.Kind, Name: name}
}

// owners returns who can own toggles after the import of accounts and groups.
func (n *rights) owners(ctx context.Context) (owners, error) {
	all := owners{toggle.OwnerUser: {}, toggle.OwnerGroup: {}}
	if n.options.DryRun {
		for _, a := range n.document.Accounts {
			if a.Kind == user.Person && n.accounts[a.id()] {
				all[toggle.OwnerUser][a.id()] = 0
			}
		}
		for name, exists := range n.groups {
			if exists {
				all[toggle.OwnerGroup][name] = 0
			}
		}
	}
	accounts, err := n.Users.List(ctx)
	if err != nil {
		return nil, err
	}
	for _, u := range accounts {
		if u.Kind == user.Person {
			all[toggle.OwnerUser][fromAccount(u, nil).id()] = u.ID
		}
	}
	groups, err := n.Groups.List(ctx)
	if err != nil {
		return nil, err
	}
	for _, g := range groups {
		all[toggle.OwnerGroup][g.Name] = g.ID
	}
	return all, nil
}

// prepareOwner sets the id of the owner of a toggle. An owner that does not exist here becomes a text.
func (r resources) prepareOwner(t *toggle.FeatureJSON, about *remarks) {
	if t.Owner == nil {
		return
	}
	o := *t.Owner
	t.Owner = &o
	if ids, hasIDs := r.owners[o.Kind]; hasIDs {
		id, exists := ids[o.Name]
		if exists {
			o.ID, o.Name = id, ""
			return
		}
		about.note("its owner, the %s %.100q, does not exist here, and became a text", o.Kind, o.Name)
	}
	o = toggle.Owner{Kind: toggle.OwnerText, Name: strings.TrimSpace(o.Name)}
	if err := toggle.CheckOwnerText(o.Name); err != nil {
		about.note("its owner %.100q was not imported: it %v", o.Name, err)
		t.Owner = nil
	}
}

// prepareKeep checks until when a toggle is kept.
func prepareKeep(t *toggle.FeatureJSON, about *remarks) error {
	if t.KeepUntil == "" {
		t.KeepReason = ""
		return nil
	}
	if _, err := toggle.ParseDay(t.KeepUntil); err != nil {
		return fmt.Errorf("its keepUntil %.50q %w", t.KeepUntil, err)
	}
	about.cut(&t.KeepReason, "why it is kept", toggle.MaxKeepReason)
	return nil
}

// prepareLinks leaves out links that a toggle cannot have, and gives ids to those that have none.
func (r resources) prepareLinks(t, old *toggle.FeatureJSON, about *remarks) {
	var kept []toggle.Link
	for _, link := range t.Links {
		about.cutOptional(&link.Title, "the title of a link", toggle.MaxTitle)
		switch err := toggle.CheckLinkURL(link.URL); {
		case err != nil:
			about.note("its link %.100q was not imported: it %v", link.URL, err)
		case len(kept) == toggle.MaxLinks:
			about.note("it has more than %d links, and was imported without %.100q", toggle.MaxLinks, link.URL)
		default:
			link.ID = cmp.Or(link.ID, idOf(link, old), r.newID())
			kept = append(kept, link)
		}
	}
	t.Links = kept
}

// idOf returns the id of the link of a stored toggle with the same URL, or an empty text.
func idOf(link toggle.Link, stored *toggle.FeatureJSON) string {
	if stored == nil {
		return ""
	}
	i := slices.IndexFunc(stored.Links, func(l toggle.Link) bool { return l.URL == link.URL })
	if i < 0 {
		return ""
	}
	return stored.Links[i].ID
}

// keepOf returns until when a prepared toggle is kept, or nil.
func keepOf(t toggle.FeatureJSON) *toggle.Keep {
	until, err := toggle.ParseDay(t.KeepUntil)
	if err != nil {
		return nil
	}
	return &toggle.Keep{Until: until, Reason: t.KeepReason}
}
