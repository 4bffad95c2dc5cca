package samtemplate

import (
	"regexp"
	"strings"
	"time"
)

// event is an Api event of a function, not yet held against the API.
type event struct {
	function, api, path, method, authorizer string
	n                                       *node
}

func readFunction(d *decoder, r *resolver, found *resource) (Function, []event) {
	o := d.object(found.properties)
	o.must("Runtime", "provided.al2023")
	o.must("Handler", "bootstrap")
	f := Function{
		LogicalID:   found.id,
		Name:        folder(o),
		MemoryMB:    o.integer("MemorySize", 128, 128, 10240),
		Timeout:     time.Duration(o.integer("Timeout", 3, 1, 900)) * time.Second,
		Environment: map[string]string{},
	}
	if environment := o.child("Environment"); len(environment.n.keys) > 0 {
		f.Environment = environment.textMap("Variables")
		environment.done()
	}
	if arn, ok := o.optionalText("Role"); ok {
		f.Role, f.Policies = readRole(d, r, o, arn)
	}
	for _, policy := range o.list("Policies") {
		if f.Role != "" {
			d.fail(policy, "has no effect beside Role")
		}
		f.Policies = append(f.Policies, readPolicy(d, policy)...)
	}
	var events []event
	declared := o.child("Events").n
	for _, name := range declared.keys {
		if e := readEvent(d, r, &f, name, declared.fields[name]); e != nil {
			events = append(events, *e)
		}
	}
	readEventInvokeConfig(d, r, o, &f)
	o.notPlayed("Architectures", "AutoPublishAlias", "AutoPublishAliasAllProperties", "DeploymentPreference", "Description", "LoggingConfig",
		"ReservedConcurrentExecutions", "Tags", "Tracing", "VersionDescription")
	o.done()
	return f, events
}

// folder gives the function's folder below functions/.
func folder(o *object) string {
	code := o.needText("CodeUri")
	name, ok := strings.CutPrefix(strings.TrimSuffix(code, "/"), "functions/")
	if !ok || !regexp.MustCompile(`^[a-z][a-z0-9]*(-[a-z0-9]+)*$`).MatchString(name) {
		o.d.fail(o.n, "CodeUri: %q is no folder functions/<name>/", code)
	}
	return name
}

// readEvent reads one event of a function: an Api event is given back, all others become the function's.
func readEvent(d *decoder, r *resolver, f *Function, name string, n *node) *event {
	o := d.object(n)
	typ := o.needText("Type")
	properties := d.object(o.need("Properties"))
	o.done()
	switch typ {
	case "Api":
		return readRoute(properties, f.LogicalID, n)
	case "DynamoDB":
		f.Streams = append(f.Streams, readStream(d, r, properties))
	case "ScheduleV2":
		f.Schedules = append(f.Schedules, readSchedule(d, properties, f.LogicalID+name))
	case "CloudWatchLogs":
		f.LogSubscriptions = append(f.LogSubscriptions, readLogSubscription(d, r, properties))
	default:
		d.fail(n, "the event type %s is not known", typ)
	}
	properties.done()
	return nil
}

func readRoute(properties *object, function string, n *node) *event {
	auth := properties.child("Auth")
	e := &event{
		function: function, n: n,
		api:  properties.needText("RestApiId"), // without it SAM would make a second API
		path: properties.needText("Path"), method: properties.needText("Method"),
		authorizer: auth.text("Authorizer"),
	}
	auth.done()
	properties.done()
	return e
}
