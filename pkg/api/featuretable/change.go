package featuretable

import (
	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/toggle"
)

// Subject returns the subject of the events about a toggle.
func Subject(f toggle.Feature) eventlog.Subject { return eventlog.Subject("toggle:" + f.Name) }

// Change returns the record of a change of a toggle, without the id of the toggle's last event.
func Change(f toggle.Feature, t eventlog.Type, data, preData any) eventlog.Change {
	return eventlog.Change{
		Type:        t,
		Subject:     Subject(f),
		Project:     f.Project,
		FeatureName: f.Name,
		Data:        data,
		PreData:     preData,
	}
}
