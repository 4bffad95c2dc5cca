package feature

import (
	"context"
	"fmt"
	"strconv"

	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/jsonbody"
	"toggleadmin/pkg/toggle"
)

const propertyOwner = "owner"

// OwnerIn returns the owner that a body has, or nil.
func OwnerIn(body jsonbody.Object) *toggle.Owner {
	members, ok := body[propertyOwner].(map[string]any)
	if !ok {
		return nil
	}
	sent := jsonbody.Object(members)
	owner := toggle.Owner{Kind: toggle.OwnerKind(sent.Text("kind"))}
	if owner.Kind == toggle.OwnerText {
		owner.Name = sent.Text("name")
	} else {
		owner.ID, _ = sent.Int("id")
	}
	return &owner
}

// HasOwner is the rule that an owner, if it is sent, has what its kind needs.
func HasOwner(body jsonbody.Object) []apierror.Detail {
	const path = "/body/" + propertyOwner
	owner := OwnerIn(body)
	switch {
	case owner == nil:
		return nil
	case owner.Kind != toggle.OwnerText && owner.ID == 0:
		return []apierror.Detail{apierror.At(path+"/id", "must be the id of a %s", owner.Kind).NotSent()}
	case owner.Kind == toggle.OwnerText:
		if err := toggle.CheckOwnerText(owner.Name); err != nil {
			return []apierror.Detail{apierror.At(path+"/name", "%v", err).Sent(owner.Name)}
		}
	}
	return nil
}

// missingOwner returns the 400 if there is no such person or group, or nil. An owner that is deleted later stays in the
// toggle, and is shown as deleted, as in events: nothing that a toggle does depends on its owner.
func (r *Reader) missingOwner(ctx context.Context, owner *toggle.Owner) (missing, err error) {
	if owner == nil || owner.Kind == toggle.OwnerText {
		return nil, nil
	}
	var exists bool
	what := "person"
	if owner.Kind == toggle.OwnerGroup {
		what = "group"
		var names map[int64]string
		names, err = r.access.GroupNames(ctx, []int64{owner.ID})
		exists = names[owner.ID] != ""
	} else {
		exists, err = r.users.IsPerson(ctx, owner.ID)
	}
	if err != nil || exists {
		return nil, err
	}
	return apierror.Invalid(apierror.At("/body/"+propertyOwner+"/id", "must be the id of a %s", what).
		SentJSON(strconv.FormatInt(owner.ID, 10))), nil
}

// sameOwner reports whether two owners are the same.
func sameOwner(a, b *toggle.Owner) bool {
	return toggle.Feature{Owner: a}.OwnerName() == toggle.Feature{Owner: b}.OwnerName()
}

// owner returns the owner of a toggle as responses contain it, with the current name, or nil.
func (k Resources) owner(f toggle.Feature) *toggle.Owner {
	if f.Owner == nil {
		return nil
	}
	owner := NamedOwner(*f.Owner, k.accounts, k.groups)
	if ownsOwn(f) {
		owner.Name = f.CreatedBy.Name
	}
	return &owner
}

// ownsOwn reports whether a toggle, which was just created, is owned by the person who created it, and contains their name.
func ownsOwn(f toggle.Feature) bool {
	return f.Owner.Kind == toggle.OwnerUser && f.CreatedBy != nil && f.CreatedBy.ID == f.Owner.ID && f.CreatedBy.Name != ""
}

// NamedOwner returns an owner with its name. accounts and groups have the names of accounts, and of groups that exist, by
// ids.
func NamedOwner(owner toggle.Owner, accounts, groups map[int64]string) toggle.Owner {
	switch owner.Kind { //nolint:exhaustive // a text has its name
	case toggle.OwnerUser:
		owner.Name = accounts[owner.ID]
	case toggle.OwnerGroup:
		if owner.Name = groups[owner.ID]; owner.Name == "" {
			owner.Name = fmt.Sprintf("deleted group %d", owner.ID)
		}
	}
	return owner
}

// groupsOf returns the names of the groups that own toggles by their ids.
func (r *Reader) groupsOf(ctx context.Context, all []toggle.Feature) (map[int64]string, error) {
	var ids []int64
	for _, f := range all {
		if f.Owner != nil && f.Owner.Kind == toggle.OwnerGroup {
			ids = append(ids, f.Owner.ID)
		}
	}
	return r.access.GroupNames(ctx, ids)
}
