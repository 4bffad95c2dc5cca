package operator

import (
	"context"

	"toggleadmin/pkg/api/featureswitch"
	"toggleadmin/pkg/operator/exitstatus"
	"toggleadmin/pkg/toggle"
)

// Switch is the result of SwitchToggle.
type Switch struct {
	Name        string `json:"name"`
	Environment string `json:"environment"`
	Enabled     bool   `json:"enabled"`
	Changed     bool   `json:"changed"`
}

// SwitchToggle turns a toggle on or off in an environment. If it has no enabled strategy there, turning it on creates one
// for everybody. An archived toggle cannot be turned on.
func (o *Operator) SwitchToggle(ctx context.Context, name, environment string, on bool) (Switch, error) {
	if err := o.CheckEnvironment(ctx, environment); err != nil {
		return Switch{}, err
	}
	newID := toggle.NewStrategyIDs(o.now, o.random)
	last := int64(0)
	f, err := o.features.Update(ctx, name, func(f toggle.Feature) (toggle.Feature, error) {
		last = f.LastEvent
		if err := o.checkHasEnvironment(ctx, f, environment); err != nil {
			return f, err
		}
		if !on {
			return featureswitch.Off(f, environment), nil
		}
		return featureswitch.On(f, environment, false, newID)
	})
	if err != nil {
		return Switch{}, exitstatus.Explain(err)
	}
	return Switch{Name: name, Environment: environment, Enabled: on, Changed: f.LastEvent != last}, nil
}
