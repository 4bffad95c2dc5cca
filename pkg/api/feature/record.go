package feature

import "toggleadmin/pkg/toggle"

// eventData returns a toggle in the data of an event. It has no name of a user: the event of the creation has it.
func eventData(f toggle.Feature) toggle.FeatureJSON {
	form := f.JSON()
	if f.CreatedBy != nil && f.CreatedBy.ID != 0 {
		form.CreatedBy = nil
	}
	return form
}

// summary returns a toggle in the data of an event that does not concern its environments, which can be large.
func summary(f toggle.Feature) toggle.FeatureJSON {
	form := eventData(f)
	form.Environments = nil
	form.Dependency = nil
	return form
}
