package pat

import "toggleadmin/pkg/dynamo"

// AttributeSeenAt names the attribute that the authorizer writes.
const AttributeSeenAt = "seenAt"

func itemOf(p PAT) dynamo.Item {
	item := Key(p.UserID, p.ID)
	item["verifier"] = dynamo.B(p.Verifier[:])
	item["description"] = dynamo.S(p.Description)
	item["expiresAt"] = dynamo.Time(p.ExpiresAt)
	item["createdAt"] = dynamo.Time(p.CreatedAt)
	if p.SeenAt != nil {
		item[AttributeSeenAt] = dynamo.Time(*p.SeenAt)
	}
	return item
}

// Of reads a PAT's item.
func Of(item dynamo.Item) PAT {
	p := PAT{ID: item.Int("id"), UserID: item.Int("userId"), Description: item.String("description"), SeenAt: item.Time(AttributeSeenAt)}
	copy(p.Verifier[:], item.Bytes("verifier"))
	if t := item.Time("expiresAt"); t != nil {
		p.ExpiresAt = *t
	}
	if t := item.Time("createdAt"); t != nil {
		p.CreatedAt = *t
	}
	return p
}
