package gateway

import (
	"fmt"
	"hash/fnv"
	"net/http"
	"strconv"
	"strings"

	"toggleadmin/pkg/samtemplate"
)

// anyMethod is the method of a route that takes all methods which the resource has no route for.
const anyMethod = "ANY"

// resource is one path of the API with its methods.
type resource struct {
	path   string
	id     string
	params []string // names, in the order of the path
	routes map[string]*route

	event   []byte // `"resource":"/things/{id}"`, the start of both events
	context []byte // what is fixed in requestContext
}

// route is one method of a resource.
type route struct {
	function   *function
	authorized bool
}

// node is a place in the tree of resources, one level per segment.
type node struct {
	literals  map[string]*node
	param     *node
	paramName string
	greedy    *resource // {name+}
	resource  *resource // ends here
}

// routes makes the tree.
func (g *Gateway) routes(routes []samtemplate.Route, functions map[string]*function) (*node, error) {
	root := &node{}
	for _, r := range routes {
		f := functions[r.Function]
		if f == nil {
			return nil, fmt.Errorf("route %s %s: there is no function %q", r.Method, r.Path, r.Function)
		}
		if r.Authorized && g.authorizer == nil {
			return nil, fmt.Errorf("route %s %s: the API has no authorizer", r.Method, r.Path)
		}
		if r.Method != anyMethod && !knownMethod(r.Method) {
			return nil, fmt.Errorf("route %s %s: unknown method", r.Method, r.Path)
		}
		res, err := root.add(r.Path)
		if err != nil {
			return nil, fmt.Errorf("route %s %s: %w", r.Method, r.Path, err)
		}
		if res.routes == nil {
			g.prepare(res)
		}
		if res.routes[r.Method] != nil {
			return nil, fmt.Errorf("route %s %s: stands there twice", r.Method, r.Path)
		}
		res.routes[r.Method] = &route{function: f, authorized: r.Authorized}
	}
	return root, nil
}

// knownMethod tells the seven methods that a REST API has.
func knownMethod(method string) bool {
	switch method {
	case http.MethodDelete, http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodPatch, http.MethodPost, http.MethodPut:
		return true
	}
	return false
}

// prepare fills in what every event of the resource has.
func (g *Gateway) prepare(res *resource) {
	res.routes = map[string]*route{}
	hash := fnv.New32a()
	_, _ = hash.Write([]byte(res.path)) // never fails
	res.id = ("000000" + strconv.FormatUint(uint64(hash.Sum32()), 36))
	res.id = res.id[len(res.id)-6:]
	res.event = appendString([]byte(`"resource":`), res.path)
	b := appendString([]byte(`"requestContext":{"accountId":`), g.config.AccountID)
	b = appendString(append(b, `,"apiId":`...), g.config.APIID)
	b = appendString(append(b, `,"stage":`...), g.config.API.Stage)
	b = appendString(append(b, `,"resourceId":`...), res.id)
	b = appendString(append(b, `,"resourcePath":`...), res.path)
	res.context = b
}

// add finds or makes the resource of a path.
func (n *node) add(path string) (*resource, error) {
	if !strings.HasPrefix(path, "/") {
		return nil, fmt.Errorf("the path must begin with /")
	}
	var params []string
	rest := path[1:]
	for rest != "" {
		segment, tail, more := strings.Cut(rest, "/")
		if segment == "" || more && tail == "" {
			return nil, fmt.Errorf("the path has an empty segment")
		}
		name, isParam := strings.CutPrefix(segment, "{")
		name, closed := strings.CutSuffix(name, "}")
		name, greedy := strings.CutSuffix(name, "+")
		switch {
		case !isParam:
			if strings.ContainsAny(segment, "{}") {
				return nil, fmt.Errorf("segment %q is neither fixed nor a parameter", segment)
			}
			n = n.literal(segment)
		case !closed || name == "" || strings.ContainsAny(name, "{}"):
			return nil, fmt.Errorf("segment %q is no parameter", segment)
		case greedy && more:
			return nil, fmt.Errorf("segment %q must be the last", segment)
		case greedy:
			if n.greedy == nil {
				n.greedy = &resource{path: path, params: append(params, name)}
			}
			if n.greedy.path != path {
				return nil, fmt.Errorf("%s takes the same paths", n.greedy.path)
			}
			return n.greedy, nil
		default:
			if n.param == nil {
				n.param, n.paramName = &node{}, name
			}
			if n.paramName != name {
				return nil, fmt.Errorf("segment %q is called {%s} elsewhere", segment, n.paramName)
			}
			n, params = n.param, append(params, name)
		}
		rest = tail
	}
	if n.resource == nil {
		n.resource = &resource{path: path, params: params}
	}
	return n.resource, nil
}

func (n *node) literal(segment string) *node {
	if n.literals == nil {
		n.literals = map[string]*node{}
	}
	child := n.literals[segment]
	if child == nil {
		child = &node{}
		n.literals[segment] = child
	}
	return child
}

// match finds the resource of a path without its leading slash and a trailing one, and the raw values of its parameters. A fixed
// segment wins over {name}, {name} over {name+}; an empty segment is matched by {name+} alone.
func (n *node) match(rest string, values []string) (*resource, []string) {
	if rest == "" {
		return n.resource, values
	}
	segment, tail, _ := strings.Cut(rest, "/")
	if child := n.literals[segment]; child != nil {
		if res, v := child.match(tail, values); res != nil {
			return res, v
		}
	}
	if n.param != nil && segment != "" {
		if res, v := n.param.match(tail, append(values, segment)); res != nil {
			return res, v
		}
	}
	if n.greedy != nil {
		return n.greedy, append(values, rest)
	}
	return nil, nil
}

// find looks up the request's route. The resource may be known where the method is not.
func (x *exchange) find() *refusal {
	path := x.path[1:]
	if strings.HasSuffix(path, "/") && !strings.HasSuffix(x.path, "//") {
		path = path[:len(path)-1]
	}
	x.resource, x.params = x.g.root.match(path, x.paramSpace[:0])
	if x.resource != nil && knownMethod(x.method) {
		if x.route = x.resource.routes[x.method]; x.route == nil {
			x.route = x.resource.routes[anyMethod]
		}
	}
	if x.route != nil {
		return nil
	}
	x.resource = nil
	value := x.r.Header.Get("Authorization")
	if value == "" {
		return refuseAs(missingAuthenticationToken, nil)
	}
	refused := refuseAs(invalidSignature, nil) // read as a signature; the default text repeats it [seen]
	word := value[strings.LastIndexByte(value, ' ')+1:]
	refused.message = "'" + word + "' not a valid key=value pair (missing equal-sign) in Authorization header: '" + value + "'."
	return refused
}
