package transfer_test

import (
	"testing"
	"time"

	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/operator/transfer"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/accesstable"
	"toggleadmin/pkg/toggle"
	"toggleadmin/test/helper/assert"
)

// A document names who owns toggles. An import finds them by their names, and a person or a group that does not exist
// becomes a text. It takes away neither an owner, nor until when a toggle is kept, nor links that the document lacks.
func TestOwners(t *testing.T) {
	t.Parallel()
	from, to := newStage(t), newStage(t)
	assert.OK(t, from.Users.Create(t.Context(), user.User{ID: 70, Kind: user.Person, Name: "Ada", Email: "ada@example.com",
		Role: access.RoleEditor}))
	team, err := from.Groups.Create(t.Context(), accesstable.Group{Name: "Checkout"})
	assert.OK(t, err)
	keep := &toggle.Keep{Until: time.Date(2027, 1, 31, 0, 0, 0, 0, time.UTC), Reason: "Sale"}
	links := []toggle.Link{{ID: "L1", URL: "https://example.com", Title: new("Ticket")}}
	for name, f := range map[string]toggle.Feature{
		"of-ada":     {Owner: &toggle.Owner{Kind: toggle.OwnerUser, ID: 70}, Keep: keep, Links: links},
		"of-team":    {Owner: &toggle.Owner{Kind: toggle.OwnerGroup, ID: team.ID}},
		"of-text":    {Owner: &toggle.Owner{Kind: toggle.OwnerText, Name: "Team X"}},
		"of-nobody":  {},
		"of-deleted": {Owner: &toggle.Owner{Kind: toggle.OwnerUser, ID: 9}},
	} {
		f.Name, f.Project, f.Type = name, "default", "release"
		_, err := from.Features.Create(t.Context(), f)
		assert.OK(t, err)
	}
	d := from.export(t)
	owners := func(d transfer.Document) map[string]*toggle.Owner {
		all := map[string]*toggle.Owner{}
		for _, f := range d.Features {
			all[f.Name] = f.Owner
		}
		return all
	}
	ada, text := toggle.Owner{Kind: toggle.OwnerUser, Name: "ada@example.com"}, &toggle.Owner{Kind: toggle.OwnerText, Name: "Team X"}
	assert.Equal(t, map[string]*toggle.Owner{
		"of-ada": &ada, "of-team": {Kind: toggle.OwnerGroup, Name: "Checkout"}, "of-text": text, "of-nobody": nil, "of-deleted": nil,
	}, owners(d))
	assert.Equal(t, 0, len(from.run(t, d, transfer.Options{}).Features.Updated))

	other, err := to.Groups.Create(t.Context(), accesstable.Group{Name: "Other"})
	assert.OK(t, err)
	same, err := to.Groups.Create(t.Context(), accesstable.Group{Name: "Checkout"})
	assert.OK(t, err)
	assert.Equal(t, false, other.ID == same.ID)
	d.Accounts = nil
	r := to.run(t, d, transfer.Options{})
	assert.Equal(t, []transfer.Remark{
		{Name: "of-ada", Text: `its owner, the user "ada@example.com", does not exist here, and became a text`},
	}, r.Features.Notes)
	stored := func(name string) toggle.Feature {
		f, err := to.Features.Get(t.Context(), name)
		assert.OK(t, err)
		return f
	}
	assert.Equal(t, &toggle.Owner{Kind: toggle.OwnerGroup, ID: same.ID}, stored("of-team").Owner)
	assert.Equal(t, &toggle.Owner{Kind: toggle.OwnerText, Name: "ada@example.com"}, stored("of-ada").Owner)
	assert.Equal(t, keep, stored("of-ada").Keep)
	assert.Equal(t, links, stored("of-ada").Links)

	for i := range d.Features {
		d.Features[i].Owner, d.Features[i].KeepUntil, d.Features[i].Links = nil, "", nil
	}
	assert.Equal(t, 0, len(to.run(t, d, transfer.Options{}).Features.Updated))

	d.Features[0].KeepUntil = "2027-02-30"
	d.Features[1].Links = []toggle.Link{{URL: "javascript:alert(1)"}, {URL: "https://example.com/new"}}
	r = to.run(t, d, transfer.Options{})
	assert.Equal(t, []transfer.Remark{{Name: d.Features[0].Name, Text: `its keepUntil "2027-02-30" must be a date such as 2027-01-31`}},
		r.Features.Skipped)
	assert.Equal(t, 1, len(r.Features.Notes))
	assert.Equal(t, "https://example.com/new", stored(d.Features[1].Name).Links[0].URL)
}
