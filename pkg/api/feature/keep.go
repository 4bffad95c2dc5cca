package feature

import (
	"time"

	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/jsonbody"
	"toggleadmin/pkg/toggle"
)

const (
	propertyKeepUntil  = "keepUntil"
	propertyKeepReason = "keepReason"
	pathKeepUntil      = "/body/" + propertyKeepUntil
)

// HasKeep is the rule that keepUntil, if it is sent, is a date.
func HasKeep(body jsonbody.Object) []apierror.Detail {
	text, ok := body.TextOK(propertyKeepUntil)
	if !ok {
		return nil
	}
	if _, err := toggle.ParseDay(text); err != nil {
		return []apierror.Detail{apierror.At(pathKeepUntil, "%v", err).Sent(text)}
	}
	return nil
}

// keep returns a toggle with what a body says about keeping it. Its error is a 400 for another date that has begun at the
// time now, and for a reason without a date.
func keep(f toggle.Feature, body jsonbody.Object, now time.Time) (toggle.Feature, error) {
	next := toggle.Keep{}
	if f.Keep != nil {
		next = *f.Keep
	}
	if body.Has(propertyKeepUntil) {
		until, _ := toggle.ParseDay(body.Text(propertyKeepUntil)) // valid, or null
		changed := !until.Equal(next.Until)
		if next.Until = until; until.IsZero() {
			next.Reason = ""
		} else if changed && !now.Before(until) {
			return f, apierror.Invalid(apierror.At(pathKeepUntil, "must be after today, %s", now.UTC().Format(time.DateOnly)).
				Sent(next.Day()))
		}
	}
	if body.Has(propertyKeepReason) {
		next.Reason = body.Text(propertyKeepReason)
	}
	switch {
	case !next.Until.IsZero():
		f.Keep = &next
	case next.Reason != "":
		return f, apierror.Invalid(apierror.At("/body/"+propertyKeepReason, "must be null without `keepUntil`").
			Sent(next.Reason))
	default:
		f.Keep = nil
	}
	return f, nil
}
