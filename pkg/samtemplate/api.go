package samtemplate

import (
	"maps"
	"slices"
	"strings"
	"time"
)

// GatewayResponseTypes gives the names of all gateway responses of a REST API, sorted. CloudFormation's tools accept any name; API
// Gateway does not. Source: docs.aws.amazon.com/apigateway/latest/developerguide/supported-gateway-response-types.html.
func GatewayResponseTypes() []string {
	return []string{
		"ACCESS_DENIED", "API_CONFIGURATION_ERROR", "AUTHORIZER_CONFIGURATION_ERROR", "AUTHORIZER_FAILURE", "BAD_REQUEST_BODY",
		"BAD_REQUEST_PARAMETERS", "DEFAULT_4XX", "DEFAULT_5XX", "EXPIRED_TOKEN", "INTEGRATION_FAILURE", "INTEGRATION_TIMEOUT",
		"INVALID_API_KEY", "INVALID_SIGNATURE", "MISSING_AUTHENTICATION_TOKEN", "QUOTA_EXCEEDED", "REQUEST_TOO_LARGE",
		"RESOURCE_NOT_FOUND", "THROTTLED", "UNAUTHORIZED", "UNSUPPORTED_MEDIA_TYPE", "WAF_FILTERED",
	}
}

func readAPI(d *decoder, r *resolver, found *resource) API {
	o := d.object(found.properties)
	api := API{LogicalID: found.id, Stage: o.needText("StageName"), GatewayResponses: map[string]GatewayResponse{}}
	if auth := o.child("Auth"); len(auth.n.keys) > 0 {
		api.Authorizer = readAuthorizer(d, r, auth)
	}
	if log := o.child("AccessLogSetting"); len(log.n.keys) > 0 {
		api.AccessLogFormat = log.needText("Format")
		if group := r.byARN(typeLogGroup, "Arn", log.needText("DestinationArn")); group != nil {
			api.AccessLogGroup = group.id
		}
		log.done()
	}
	responses := o.child("GatewayResponses").n
	for _, name := range responses.keys {
		api.GatewayResponses[name] = readGatewayResponse(d, name, responses.fields[name])
	}
	o.notPlayed("AlwaysDeploy", "Description", "EndpointAccessMode", "EndpointConfiguration", "FailOnWarnings", "MethodSettings", "Name",
		"OpenApiVersion", "PropagateTags", "SecurityPolicy", "Tags", "TracingEnabled")
	o.done()
	return api
}

func readAuthorizer(d *decoder, r *resolver, auth *object) Authorizer {
	a := Authorizer{Name: auth.needText("DefaultAuthorizer")}
	all := auth.child("Authorizers")
	o := d.object(all.need(a.Name))
	all.done()
	auth.done()
	arn := o.needText("FunctionArn")
	o.must("FunctionPayloadType", "REQUEST")
	identity := o.child("Identity")
	a.IdentityHeaders = identity.texts("Headers")
	a.TTL = time.Duration(identity.integer("ReauthorizeEvery", 300, 0, 3600)) * time.Second
	identity.done()
	o.done()
	if found := r.functionByARN(arn); found != nil {
		a.Function = found.id
	} else {
		d.fail(o.n, "FunctionArn: %q is no function of this template", arn)
	}
	return a
}

func readGatewayResponse(d *decoder, name string, n *node) GatewayResponse {
	if !slices.Contains(GatewayResponseTypes(), name) {
		d.fail(n, "API Gateway has no response type %s", name)
	}
	o := d.object(n)
	parameters := o.child("ResponseParameters")
	response := GatewayResponse{
		StatusCode: o.integer("StatusCode", 0, 100, 599),
		Headers:    parameters.textMap("Headers"),
		Templates:  o.textMap("ResponseTemplates"),
	}
	for _, header := range slices.Sorted(maps.Keys(response.Headers)) {
		value := response.Headers[header]
		constant := len(value) >= 2 && strings.HasPrefix(value, "'") && strings.HasSuffix(value, "'")
		if !constant && !strings.HasPrefix(value, "context.") {
			d.fail(n, "the header %s must be a constant in single quotes or a context variable, not %q", header, value)
		}
	}
	parameters.done()
	o.done()
	return response
}
