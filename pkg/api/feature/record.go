package feature

import (
	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/toggle"
)

func subject(f toggle.Feature) eventlog.Subject { return eventlog.Subject("toggle:" + f.Name) }

// recordOf returns the record of a change of a toggle, without the id of the toggle's last event.
func recordOf(f toggle.Feature, t eventlog.Type, data, preData any) eventlog.Change {
	return eventlog.Change{
		Type:        t,
		Subject:     subject(f),
		Project:     f.Project,
		FeatureName: f.Name,
		Data:        data,
		PreData:     preData,
	}
}

// snapshot returns a toggle in the data of an event. It has no name of a user: the event of the creation has it.
func snapshot(f toggle.Feature) toggle.FeatureJSON {
	form := f.JSON()
	if f.CreatedBy != nil && f.CreatedBy.ID != 0 {
		form.CreatedBy = nil
	}
	return form
}

// summary returns a toggle in the data of an event that does not concern its environments, which can be large.
func summary(f toggle.Feature) toggle.FeatureJSON {
	form := snapshot(f)
	form.Environments = nil
	form.Dependency = nil
	return form
}

// flipRecord returns the record of a flip of the flag, without the id of the toggle's last event. The flag is set if
// there is no reason to clear it. causedBy is the id of the event of the lifetime that causes the flip, or nil.
func flipRecord(f toggle.Feature, lifetimeDays *int64, reason toggle.ClearReason, causedBy *int64) eventlog.Change {
	kind := eventlog.FeaturePotentiallyStaleOn
	if reason != "" {
		kind = eventlog.FeaturePotentiallyStaleOff
	}
	return recordOf(f, kind, f.FlagChange(lifetimeDays, reason, causedBy), nil)
}
