package eventsearch

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"toggleadmin/pkg/api/feature"
	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/platform/accesstable"
	"toggleadmin/pkg/toggle"
)

// Names reads the names of what events have only the ids of.
type Names struct {
	*user.Names
	groups *accesstable.Reader
}

// NewNames returns Names that read accounts and groups.
func NewNames(accounts *user.Names, groups *accesstable.Reader) Names { return Names{accounts, groups} }

// owned is the data of an event that has an owner whose name is not stored.
type owned struct {
	data       *json.RawMessage
	properties map[string]json.RawMessage
	owner      toggle.Owner
}

// Fill is user.Names.Fill. It also names the people and groups that own toggles, in the data of the events.
func (n Names) Fill(ctx context.Context, events []eventlog.Event) error {
	if err := n.Names.Fill(ctx, events); err != nil {
		return err
	}
	var all []owned
	var accounts, groups []int64
	for i := range events {
		for _, data := range []*json.RawMessage{&events[i].Data, &events[i].PreData} {
			owner, properties := ownerIn(*data)
			switch owner.Kind {
			case toggle.OwnerUser:
				accounts = append(accounts, owner.ID)
			case toggle.OwnerGroup:
				groups = append(groups, owner.ID)
			default:
				continue
			}
			all = append(all, owned{data, properties, owner})
		}
	}
	accountNames, err := n.Of(ctx, accounts)
	if err != nil {
		return err
	}
	groupNames, err := n.groups.GroupNames(ctx, groups)
	if err != nil {
		return err
	}
	for _, o := range all {
		named := feature.NamedOwner(o.owner, accountNames, groupNames)
		if o.properties[ownerProperty], err = json.Marshal(named); err != nil {
			return fmt.Errorf("encode an owner: %w", err)
		}
		if *o.data, err = json.Marshal(o.properties); err != nil {
			return fmt.Errorf("encode the data of an event: %w", err)
		}
	}
	return nil
}

const ownerProperty = "owner"

// ownerIn returns the owner that the data of an event has, with all of the data. The owner has no kind if there is none.
func ownerIn(data json.RawMessage) (owner toggle.Owner, properties map[string]json.RawMessage) {
	if !bytes.Contains(data, []byte(`"`+ownerProperty+`"`)) { // most events
		return toggle.Owner{}, nil
	}
	if json.Unmarshal(data, &properties) != nil || json.Unmarshal(properties[ownerProperty], &owner) != nil {
		return toggle.Owner{}, nil // it is no owner of a toggle
	}
	return owner, properties
}
