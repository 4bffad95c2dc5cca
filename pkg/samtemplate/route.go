package samtemplate

import (
	"regexp"
	"strings"
)

// routes holds the functions' Api events against the API.
func routes(d *decoder, api API, events []event) []Route {
	routes := make([]Route, 0, len(events))
	taken := map[string]string{}     // method and path → function
	variables := map[string]string{} // parent path → its variable segment
	for _, e := range events {
		route := Route{Path: e.path, Method: method(d, e), Function: e.function, Authorized: authorized(d, api, e)}
		if e.api != api.LogicalID {
			d.fail(e.n, "RestApiId: %q is not the API %s", e.api, api.LogicalID)
		}
		checkPath(d, e, variables)
		key := route.Method + " " + route.Path
		if other, ok := taken[key]; ok {
			d.fail(e.n, "%s belongs to %s already", key, other)
		}
		taken[key] = e.function
		routes = append(routes, route)
	}
	return routes
}

// method gives a method in capitals. ANY has two spellings: sam local overlooks the long one, API Gateway does not tell them apart.
func method(d *decoder, e event) string {
	switch name := strings.ToUpper(e.method); name {
	case "GET", "PUT", "POST", "DELETE", "PATCH", "HEAD", "OPTIONS", "ANY":
		return name
	case "X-AMAZON-APIGATEWAY-ANY-METHOD":
		return "ANY"
	}
	d.fail(e.n, "the method %q is not known", e.method)
	return ""
}

func authorized(d *decoder, api API, e event) bool {
	switch {
	case e.authorizer == "NONE":
		return false
	case e.authorizer != "" && e.authorizer != api.Authorizer.Name:
		d.fail(e.n, "the authorizer %q is not known", e.authorizer)
	}
	return api.Authorizer.Name != ""
}

// checkPath wants a path as API Gateway takes it: plain segments, {name}, and {name+} at the end; and one variable below each parent.
func checkPath(d *decoder, e event, variables map[string]string) {
	if e.path == "/" {
		return
	}
	rest, ok := strings.CutPrefix(e.path, "/")
	if !ok {
		d.fail(e.n, "the path %q does not start with a slash", e.path)
		return
	}
	plain := regexp.MustCompile(`^[A-Za-z0-9._:~-]+$`)
	variable := regexp.MustCompile(`^\{[A-Za-z0-9._-]+\+?\}$`)
	segments := strings.Split(rest, "/")
	parent := ""
	for i, segment := range segments {
		isVariable := variable.MatchString(segment)
		greedy := isVariable && strings.HasSuffix(segment, "+}")
		if !isVariable && !plain.MatchString(segment) || greedy && i < len(segments)-1 {
			d.fail(e.n, "the path %q has a segment %q that is not known", e.path, segment)
			return
		}
		if isVariable {
			if other, ok := variables[parent]; ok && other != segment {
				d.fail(e.n, "the path %q has %s where another has %s", e.path, segment, other)
			}
			variables[parent] = segment
		}
		parent += "/" + segment
	}
}
