package counting

import (
	"cmp"
	"encoding/json"
	"errors"
	"reflect"
	"time"

	"toggleadmin/pkg/delivery/clienttokentable"
	"toggleadmin/pkg/delivery/usage"
	"toggleadmin/pkg/delivery/usagetable"
	"toggleadmin/pkg/platform/apierror"
)

// Reporter is who reports: a valid token, and the toggles of its environment.
type Reporter struct {
	Token   clienttokentable.Token
	Toggles func() (map[string]Toggle, error) // by name
}

// Toggle is what is known of a toggle.
type Toggle struct {
	Project  string
	Variants []string // names
}

// decode reads the body of a report, which is a JSON object. Unknown properties are accepted.
func decode(body []byte, into any) error {
	err := json.Unmarshal(body, into)
	if err == nil {
		return nil
	}
	wrong, ok := errors.AsType[*json.UnmarshalTypeError](err)
	switch {
	case !ok:
		return apierror.Invalid(apierror.At("/body", "must be valid JSON"))
	case wrong.Field == "":
		return apierror.Invalid(apierror.At("/body", "must be an object").Violating("type", nil))
	case wrong.Type.Kind() == reflect.String:
		return apierror.Invalid(apierror.At("/body/"+wrong.Field, "must be a string").Violating("type", nil))
	default: // no other type of property is strict
		return apierror.Invalid(apierror.At("/body/"+wrong.Field, "must be an array").Violating("type", nil))
	}
}

// CountReport counts a registration or a report of an SDK, which must name the application. The SDK is the one that the
// request names, if the report names none.
func (r *Recorder) CountReport(from Reporter, body []byte, sdk string) error {
	var sent sentReport
	if err := decode(body, &sent); err != nil {
		return err
	}
	if sent.AppName == "" {
		return apierror.Invalid(apierror.At("/body/appName", "is required and must not be empty").Violating("required", nil))
	}
	now := r.now()
	application := cut(sent.AppName)
	r.hear(from, application, sent.sentInstance, usage.Instance{SDK: cmp.Or(string(sent.SDKVersion), sdk), SeenAt: now})
	bucket := sent.Bucket.value
	at := timeOf(bucket.Stop.value.Time, now)
	uses := make([]use, 0, len(bucket.Toggles.value))
	for feature, counts := range bucket.Toggles.value {
		if counts, ok := counts.value.counts(); ok && feature != "" {
			uses = append(uses, use{at, feature, application, counts})
		}
	}
	return r.count(from, uses)
}

// hear records that the service has heard from an instance of an application. SDKs of browsers know no strategies.
func (r *Recorder) hear(from Reporter, application string, sent sentInstance, i usage.Instance) {
	if application == usage.Other {
		return
	}
	i.Frontend = i.Frontend || from.isFrontend()
	i.SDK = cut(i.SDK)
	var strategies []string
	for _, name := range sent.Strategies.value {
		if name != "" && len(strategies) < maxStrategies && !from.isFrontend() {
			strategies = append(strategies, cut(string(name)))
		}
	}
	a := usage.Application{Projects: from.Token.ListedProjects(), Strategies: strategies}
	r.heard(from, application, a, cut(cmp.Or(string(sent.InstanceID), noInstance)), i)
}

// count counts the use of toggles that the token sees. Other names are counted as unknown.
func (r *Recorder) count(from Reporter, uses []use) error {
	if len(uses) == 0 {
		return nil
	}
	toggles, err := from.Toggles()
	if err != nil {
		return err
	}
	r.countUses(from, uses, toggles)
	return nil
}

// CountBulk counts a report of Unleash Edge. What concerns another environment than that of the token is ignored.
func (r *Recorder) CountBulk(from Reporter, body []byte) error {
	var sent sentBulk
	if err := decode(body, &sent); err != nil {
		return err
	}
	var missing []apierror.Detail
	if sent.Applications == nil {
		missing = append(missing, apierror.Missing("/body/applications"))
	}
	if sent.Metrics == nil {
		missing = append(missing, apierror.Missing("/body/metrics"))
	}
	if missing != nil {
		return apierror.Invalid(missing...)
	}
	now := r.now()
	for _, a := range sent.Applications {
		a := a.value
		if a.AppName != "" && string(a.Environment) == from.Token.Environment {
			r.hear(from, cut(string(a.AppName)), a.sentInstance,
				usage.Instance{SDK: string(a.SDKVersion), Frontend: a.SDKType == "frontend", SeenAt: now})
		}
	}
	uses := make([]use, 0, len(sent.Metrics))
	for _, m := range sent.Metrics {
		m := m.value
		counts, ok := m.counts()
		if ok && m.AppName != "" && m.FeatureName != "" && string(m.Environment) == from.Token.Environment {
			at := timeOf(m.Timestamp.value.Time, now)
			uses = append(uses, use{at, string(m.FeatureName), cut(string(m.AppName)), counts})
		}
	}
	return r.count(from, uses)
}

// CountEvaluation counts an evaluation by the service. The name of the application can be empty.
func (r *Recorder) CountEvaluation(from Reporter, application, feature string, counts usage.Counts) error {
	now := r.now()
	application = cut(cmp.Or(application, applicationOFREP))
	r.hear(from, application, sentInstance{}, usage.Instance{SeenAt: now})
	return r.count(from, []use{{now, feature, application, counts}})
}

// timeOf returns the time at which the counts of a report count: that of the report if it is one of the last 24 hours,
// and the one of the service otherwise.
func timeOf(sent, now time.Time) time.Time {
	if sent.After(now) || sent.Before(now.Add(-usagetable.Accepted)) {
		return now
	}
	return sent
}
