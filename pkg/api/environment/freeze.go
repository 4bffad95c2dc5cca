package environment

import (
	_ "embed"
	"errors"
	"fmt"
	"net/http"
	"time"
	"unicode/utf8"

	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/datetime"
	"toggleadmin/pkg/platform/jsonbody"
	"toggleadmin/pkg/platform/lambdahttp"
	"toggleadmin/pkg/toggle"
)

//go:embed freeze.schema.json
var freezeSchema []byte

// Freeze is a freeze in responses and in the data of events.
type Freeze struct {
	From   string `json:"from"`
	Until  string `json:"until"`
	Reason string `json:"reason"`
}

// NewFreeze returns a freeze in the form of the API.
func NewFreeze(f access.Freeze) Freeze {
	return Freeze{datetime.Format(f.From), datetime.Format(f.Until), f.Reason}
}

// Current returns a freeze, or nil if there is none or it has ended.
func Current(f *access.Freeze, now time.Time) *access.Freeze {
	if f == nil || !now.Before(f.Until) {
		return nil
	}
	return f
}

// CurrentFreeze returns a freeze in the form of the API, or nil if there is none or it has ended.
func CurrentFreeze(f *access.Freeze, now time.Time) *Freeze {
	if f = Current(f, now); f == nil {
		return nil
	}
	return new(NewFreeze(*f))
}

// NotFrozen returns the error if an environment has no freeze that has not ended.
func NotFrozen(name string) error {
	return apierror.Errorf(apierror.NotFound, "The environment %q has no freeze.", name)
}

// FreezeChange returns the event of a change from one freeze to another, each of which can be nil. change returns an event
// of the environment or of a project.
func FreezeChange(
	change func(t eventlog.Type, data, preData any) eventlog.Change, old, next *access.Freeze,
) eventlog.Change {
	form := func(f *access.Freeze) any {
		if f == nil {
			return nil
		}
		return NewFreeze(*f)
	}
	if next == nil {
		return change(eventlog.EnvironmentFreezeRemoved, nil, form(old))
	}
	return change(eventlog.EnvironmentFreezeSet, form(next), form(old))
}

// The maximum numbers of approvals of a change request, and of characters of the reason of a freeze, as in the JSON
// Schemas.
const (
	maxApprovals = 10
	maxReason    = 500
)

// CheckProtection returns nil if a number of required approvals (0: none) and a freeze (nil: none) are valid, those of an
// environment or those of an environment in a project. Otherwise the error says what is wrong.
func CheckProtection(approvals int64, f *access.Freeze) error {
	switch {
	case approvals < 0 || approvals > maxApprovals:
		return fmt.Errorf("the number of required approvals must be 1 to %d, or none; it is %d", maxApprovals, approvals)
	case f == nil:
		return nil
	case !f.Until.After(f.From):
		return errors.New("the freeze must end after it begins")
	case utf8.RuneCountInString(f.Reason) > maxReason || !toggle.IsReadable(f.Reason):
		return fmt.Errorf("the reason of the freeze must have 1 to %d characters, of which one is visible", maxReason)
	}
	return nil
}

// FreezeBody reads a freeze from the body of a request.
func FreezeBody(now func() time.Time) func(*http.Request) (access.Freeze, error) {
	schema := jsonbody.MustCompile(freezeSchema)
	return func(r *http.Request) (access.Freeze, error) {
		body, err := schema.Read(r, func(body jsonbody.Object) []apierror.Detail { return checkFreeze(body, now()) })
		if err != nil {
			return access.Freeze{}, err
		}
		return access.Freeze{From: *body.Time("from"), Until: *body.Time("until"), Reason: body.Text("reason")}, nil
	}
}

// checkFreeze returns what is wrong with a freeze beyond its schema.
func checkFreeze(body jsonbody.Object, now time.Time) (violations []apierror.Detail) {
	from, until := body.Time("from"), body.Time("until")
	switch {
	case until == nil:
	case !until.After(now):
		violations = append(violations, apierror.At("/body/until", "must be in the future").Sent(body.Text("until")))
	case from != nil && !until.After(*from):
		violations = append(violations, apierror.At("/body/until", "must be after /body/from").Sent(body.Text("until")))
	}
	if reason, ok := body.TextOK("reason"); ok && reason != "" && !toggle.IsReadable(reason) {
		violations = append(violations,
			apierror.At("/body/reason", "must have a visible character and no control characters"))
	}
	return violations
}

// SetFreeze serves PUT /api/admin/environments/{name}/freeze.
func SetFreeze(environments *Store, now func() time.Time) lambdahttp.HandlerFunc {
	read := FreezeBody(now)
	return func(w http.ResponseWriter, r *http.Request) error {
		freeze, err := read(r)
		if err != nil {
			return err
		}
		name, err := lambdahttp.PathParam(r, "name")
		if err != nil {
			return NotFound(name)
		}
		if err := lambdahttp.CheckUntagged(r); err != nil {
			return err
		}
		if err := environments.SetFreeze(r.Context(), name, &freeze); err != nil {
			return err
		}
		return lambdahttp.WriteJSON(w, http.StatusOK, NewFreeze(freeze))
	}
}

// GetFreeze serves GET /api/admin/environments/{name}/freeze.
func GetFreeze(environments *Store, now func() time.Time) lambdahttp.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) error {
		name, err := lambdahttp.PathParam(r, "name")
		if err != nil {
			return NotFound(name)
		}
		e, err := environments.Get(r.Context(), name)
		if err != nil {
			return err
		}
		freeze := CurrentFreeze(e.Freeze, now())
		if freeze == nil {
			return NotFrozen(name)
		}
		return lambdahttp.WriteJSON(w, http.StatusOK, freeze)
	}
}

// DeleteFreeze serves DELETE /api/admin/environments/{name}/freeze.
func DeleteFreeze(environments *Store) lambdahttp.HandlerFunc {
	return func(_ http.ResponseWriter, r *http.Request) error {
		name, err := lambdahttp.PathParam(r, "name")
		if err != nil {
			return NotFound(name)
		}
		if err := lambdahttp.CheckUntagged(r); err != nil {
			return err
		}
		return environments.SetFreeze(r.Context(), name, nil) // nil: 200 without a body
	}
}
