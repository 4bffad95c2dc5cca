package gateway

import (
	"encoding/base64"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// exchange is one request and what becomes of it.
type exchange struct {
	g       *Gateway
	w       http.ResponseWriter
	r       *http.Request
	start   time.Time // UTC
	buffers *buffers

	id, extendedID, trace string
	path, query           string // as sent
	method                string // after X-HTTP-Method-Override
	sourceIP              string
	host                  string // see hostOf

	resource   *resource // nil: no route matched
	route      *route
	params     []string // raw values
	paramSpace [4]string

	authorized         *authorization // nil: no policy came back
	authorizerError    string
	authorizerLatency  time.Duration
	integrationLatency time.Duration
	integrationStatus  int
	status, length     int
	latency            time.Duration
	refused            *refusal
}

// newExchange gives the request its identity.
func (g *Gateway) newExchange(w http.ResponseWriter, r *http.Request) *exchange {
	x := &exchange{g: g, w: w, r: r, start: g.config.Now().UTC(), buffers: g.pool.get(), method: r.Method, host: hostOf(r)}
	unique := g.config.NewID()
	x.extendedID = extendedID(unique)
	x.trace = traceID(r.Header.Get("X-Amzn-Trace-Id"), unique, x.start)
	if ids := r.Header["X-Amzn-Requestid"]; len(ids) > 0 && isUUID(ids[len(ids)-1]) {
		x.id = ids[len(ids)-1]
	} else {
		x.id = g.config.NewID()
	}
	x.sourceIP = r.RemoteAddr
	if host, _, err := net.SplitHostPort(r.RemoteAddr); err == nil {
		x.sourceIP = host
	}
	if override := r.Header.Get("X-Http-Method-Override"); override != "" {
		x.method = override
	}
	x.path, x.query, _ = strings.Cut(target(r), "?")
	return x
}

// target is the request's path and query as sent. It does not begin with a slash where there is no path (OPTIONS *, CONNECT).
func target(r *http.Request) string {
	uri := r.RequestURI
	if uri == "" {
		uri = r.URL.RequestURI()
	}
	if strings.HasPrefix(uri, "/") {
		return uri
	}
	_, rest, absolute := strings.Cut(uri, "://")
	if !absolute || r.Method == http.MethodConnect {
		return uri
	}
	if i := strings.IndexAny(rest, "/?"); i >= 0 && rest[i] == '/' {
		return rest[i:]
	} else if i >= 0 {
		return "/" + rest[i:]
	}
	return "/"
}

// serve answers the request or says why the gateway must.
func (x *exchange) serve() *refusal {
	if !strings.HasPrefix(x.path, "/") || !isHost(x.host) {
		return refuseOwn(http.StatusBadRequest, "BadRequestException", "Bad Request")
	}
	if headerSize(x.r) > maxHeaders {
		return refuseOwn(http.StatusRequestHeaderFieldsTooLarge, "RequestHeaderFieldsTooLargeException", "Request Header Fields Too Large")
	}
	if refused := x.find(); refused != nil {
		return refused
	}
	body, refused := x.readBody()
	if refused != nil {
		return refused
	}
	x.encodeShared()
	if x.route.authorized {
		if refused := x.authorize(); refused != nil {
			return refused
		}
	}
	if event := x.encodeProxyEvent(body); len(event) > maxEvent {
		return refuseAs(requestTooLarge, nil)
	}
	return x.integrate()
}

// integrate calls the route's function and passes its answer on.
func (x *exchange) integrate() *refusal {
	begin := x.g.config.Now()
	output, err := x.invoke(x.route.function, x.buffers.event)
	x.integrationLatency = x.g.config.Now().Sub(begin)
	x.integrationStatus = http.StatusOK
	if err == errIntegrationTimeout { //nolint:errorlint // the value itself, never a function's error that wraps it
		x.integrationStatus = 0
		return refuseAs(integrationTimeout, err)
	}
	if err != nil {
		return refuseBadGateway(err)
	}
	answer, err := x.parseAnswer(output)
	if err != nil {
		return refuseBadGateway(err)
	}
	x.write(answer)
	return nil
}

// extendedID makes an extended request id, which looks like AWS's: 15 characters of base64url and a =.
func extendedID(unique string) string {
	if !isUUID(unique) {
		return unique
	}
	var raw [16]byte
	n := 0
	for i := 0; i < len(unique) && n < len(raw); i++ {
		if unique[i] == '-' {
			continue
		}
		raw[n] = unhex(unique[i])<<4 | unhex(unique[i+1])
		n++
		i++
	}
	raw[6], raw[8] = raw[14], raw[15] // the version and variant bits are no randomness
	return base64.URLEncoding.EncodeToString(raw[:11])
}

func unhex(c byte) byte {
	switch {
	case c <= '9':
		return c - '0'
	case c >= 'a':
		return c - 'a' + 10
	}
	return c - 'A' + 10
}

// isUUID tells the usual text form of a UUID, in any letter case.
func isUUID(s string) bool {
	if len(s) != 36 {
		return false
	}
	for i := range len(s) {
		c := s[i]
		switch i {
		case 8, 13, 18, 23:
			if c != '-' {
				return false
			}
		default:
			if (c < '0' || c > '9') && (c < 'a' || c > 'f') && (c < 'A' || c > 'F') {
				return false
			}
		}
	}
	return true
}

// traceID is the caller's own trace header, or a new root: 1-<seconds in hex>-<24 hex digits>.
func traceID(sent, unique string, at time.Time) string {
	if strings.Contains(sent, "Root=") {
		return sent
	}
	b := make([]byte, 0, 64)
	b = strconv.AppendInt(append(b, "Root=1-"...), at.Unix(), 16)
	b = append(b, '-')
	for i := 0; i < len(unique) && len(b) < 40; i++ {
		if unique[i] != '-' {
			b = append(b, unique[i])
		}
	}
	return string(b)
}
