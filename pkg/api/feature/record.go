package feature

import "toggleadmin/pkg/toggle"

// summary returns a toggle in the data of an event that does not concern its environments, which can be large.
func summary(f toggle.Feature) toggle.FeatureJSON {
	form := f.JSON()
	form.Environments = nil
	form.Dependency = nil
	form.Links = nil
	return form
}
