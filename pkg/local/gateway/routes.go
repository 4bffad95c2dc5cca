package gateway

import (
	"cmp"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"toggleadmin/pkg/local/invoke"
	"toggleadmin/pkg/samtemplate"
)

// anyMethod is the method of a route for all methods that have no route of their own on the resource.
const anyMethod = "ANY"

// restMethods are the methods that a REST API has.
var restMethods = []string{
	http.MethodDelete, http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodPatch, http.MethodPost,
	http.MethodPut,
}

// validPath matches the resource paths that API Gateway accepts: fixed segments and {name}, and possibly {name+} at the
// end.
var validPath = regexp.MustCompile(`^(/|(/([^/{}]+|\{[^/{}+]+\}))+|(/([^/{}]+|\{[^/{}+]+\}))*/\{[^/{}+]+\+\})$`)

// resource is a path of the API.
type resource struct {
	path     string
	segments []segment
	routes   map[string]*route // by method
}

// route is a method of a resource.
type route struct {
	function   *invoke.Function
	authorized bool
}

// segment is a segment of a resource path.
type segment struct {
	kind segmentKind
	text string // fixed text or name of the parameter
}

// segmentKind is ordered by precedence.
type segmentKind int

const (
	fixed     segmentKind = iota
	parameter             // {name}
	greedy                // {name+}
)

// newResources returns the resources of the routes. The first one that matches a path is the right one.
func newResources(
	routes []samtemplate.Route, functions map[string]*invoke.Function, hasAuthorizer bool,
) ([]*resource, error) {
	byPath := map[string]*resource{}
	var all []*resource
	for _, declared := range routes {
		fail := func(problem string) ([]*resource, error) {
			return nil, fmt.Errorf("route %s %s: %s", declared.Method, declared.Path, problem)
		}
		res := byPath[declared.Path]
		if res == nil {
			res = newResource(declared.Path)
			byPath[declared.Path], all = res, append(all, res)
		}
		switch {
		case declared.Authorized && !hasAuthorizer:
			return fail("the API has no authorizer")
		case declared.Method != anyMethod && !slices.Contains(restMethods, declared.Method):
			return fail("unknown method")
		case !validPath.MatchString(declared.Path):
			return fail("malformed resource path")
		case res.routes[declared.Method] != nil:
			return fail("declared twice")
		}
		res.routes[declared.Method] = &route{function: functions[declared.Function], authorized: declared.Authorized}
	}
	slices.SortFunc(all, func(a, b *resource) int {
		return slices.CompareFunc(a.segments, b.segments, func(a, b segment) int { return cmp.Compare(a.kind, b.kind) })
	})
	return all, nil
}

func newResource(path string) *resource {
	res := &resource{path: path, routes: map[string]*route{}}
	for text := range strings.FieldsFuncSeq(path, func(c rune) bool { return c == '/' }) {
		s := segment{fixed, text}
		if name, ok := strings.CutPrefix(text, "{"); ok {
			s = segment{parameter, strings.TrimSuffix(name, "}")}
			if name, ok := strings.CutSuffix(s.text, "+"); ok {
				s = segment{greedy, name}
			}
		}
		res.segments = append(res.segments, s)
	}
	return res
}

// match compares the resource with a path without its leading slash, and returns the raw values of the parameters. An
// empty segment is matched by a greedy parameter only.
func (res *resource) match(path string) (params map[string]string, ok bool) {
	rest := path
	for _, s := range res.segments {
		value := rest
		if s.kind != greedy {
			value, rest, _ = strings.Cut(rest, "/")
		} else {
			rest = ""
		}
		if value == "" || s.kind == fixed && value != s.text {
			return nil, false
		}
		if s.kind != fixed {
			if params == nil {
				params = map[string]string{}
			}
			params[s.text] = value
		}
	}
	return params, rest == ""
}

// findRoute finds the request's resource and route. A trailing slash is ignored.
func (r *request) findRoute() *gatewayError {
	path := r.path[1:]
	if !strings.HasSuffix(path, "//") {
		path = strings.TrimSuffix(path, "/")
	}
	for _, res := range r.gateway.resources {
		params, ok := res.match(path)
		if !ok {
			continue
		}
		found := res.routes[r.method]
		if found == nil && slices.Contains(restMethods, r.method) {
			found = res.routes[anyMethod]
		}
		if found != nil {
			r.resource, r.route, r.params = res, found, params
			return nil
		}
		break
	}
	if r.http.Header.Get("Authorization") != "" { // API Gateway takes the header for a signature
		return errInvalidSignature
	}
	return errMissingAuthenticationToken
}
