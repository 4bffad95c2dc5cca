package gateway

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/aws/aws-lambda-go/lambda"

	"toggleadmin/pkg/samtemplate"
)

// Function is one Lambda function as the gateway calls it.
type Function struct {
	Handler lambda.Handler // safe for concurrent use, its answers too; see ErrSharedBuffer
	ARN     string
	Timeout time.Duration // 0: Lambda's default, 3 seconds
}

// Config is everything that a Gateway takes from outside.
type Config struct {
	API       samtemplate.API
	Functions map[string]Function // by logical id

	Region, AccountID, APIID string // for ARNs and requestContext

	Now   func() time.Time
	NewID func() string // UUIDs: request ids, and what extended request ids and trace ids are made of

	// AccessLog gets one line per request, the template's AccessLogFormat filled in, and the request's time, before the first byte of
	// the answer is sent: a request that is answered is in the log. The line is valid during the call. Nil: none.
	AccessLog func(line []byte, at time.Time)
	// OnRequest is called after each answer. Nil: not called. Both are called concurrently.
	OnRequest func(Record)
}

// Record says how one request went, for the console.
type Record struct {
	Time         time.Time
	Method       string // as sent
	Path         string // as sent, percent-encoded
	Status       int
	Function     string // logical id; empty where no route matched
	Duration     time.Duration
	RequestID    string
	ResourcePath string // the template's: /things/{id}; empty where no route matched
	ResponseType string // the gateway response's type; empty where the function answered
	Err          error  // cause of an answer that the gateway made itself with a status from 500; may be a *PanicError
}

// ErrSharedBuffer refuses a handler made by lambda.NewHandler (aws-lambda-go v1.55): its Invoke returns a slice of a buffer that it
// has already given back to a pool, so that of two concurrent calls one may answer with the other's bytes. Make the handler a type
// with an Invoke method of its own.
var ErrSharedBuffer = errors.New("handler comes from lambda.NewHandler, whose Invoke is not safe for concurrent calls")

// Gateway plays one REST API. It is an http.Handler, safe for concurrent use.
type Gateway struct {
	config     Config
	root       *node
	authorizer *function // nil: the API has none
	caching    bool      // the authorizer's TTL is not 0
	arnPrefix  string    // arn:aws:execute-api:REGION:ACCOUNT:API/STAGE/
	responses  map[string]*response
	accessLog  template
	pool       *bufferPool
	runners    runners
}

// function is a Function with its limits and its logical id.
type function struct {
	Function
	id string
}

// lambdaTimeout is Lambda's default.
const lambdaTimeout = 3 * time.Second

// New makes the gateway for an API. It refuses what it cannot play with an error that names the place: a route to an unknown
// function, a malformed resource path, an unknown gateway response type, $context variable or mapping expression.
func New(c Config) (*Gateway, error) {
	if c.Now == nil || c.NewID == nil {
		return nil, errors.New("make the gateway: Now and NewID must be given")
	}
	g := &Gateway{
		config:    c,
		caching:   c.API.Authorizer.TTL > 0,
		arnPrefix: "arn:aws:execute-api:" + c.Region + ":" + c.AccountID + ":" + c.APIID + "/" + c.API.Stage + "/",
		pool:      newBufferPool(),
		runners:   newRunners(),
	}
	functions := make(map[string]*function, len(c.Functions))
	for id, f := range c.Functions {
		if f.Handler == nil {
			return nil, fmt.Errorf("function %s has no handler", id)
		}
		if fmt.Sprintf("%T", f.Handler) == "*lambda.handlerOptions" {
			return nil, fmt.Errorf("function %s: %w", id, ErrSharedBuffer)
		}
		if f.Timeout <= 0 {
			f.Timeout = lambdaTimeout
		}
		functions[id] = &function{Function: f, id: id}
	}
	if id := c.API.Authorizer.Function; id != "" {
		if g.authorizer = functions[id]; g.authorizer == nil {
			return nil, fmt.Errorf("authorizer %s: there is no function %q", c.API.Authorizer.Name, id)
		}
	}
	var err error
	if g.root, err = g.routes(c.API.Routes, functions); err != nil {
		return nil, err
	}
	if g.responses, err = compileResponses(c.API.GatewayResponses); err != nil {
		return nil, err
	}
	if g.accessLog, err = compileTemplate(c.API.AccessLogFormat, logVariables(), "-"); err != nil {
		return nil, fmt.Errorf("access log format: %w", err)
	}
	return g, nil
}

// Close ends the goroutines that wait for work. Call it once, when no more requests come; a function that still runs goes on.
func (g *Gateway) Close() { close(g.runners.closed) }

// ServeHTTP answers one request.
func (g *Gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	x := g.newExchange(w, r)
	if refused := x.serve(); refused != nil {
		x.refuse(refused)
	}
	x.finish()
}

// log writes the access log's line; all but the sending is done.
func (x *exchange) log() {
	x.latency = x.g.config.Now().Sub(x.start)
	if x.g.config.AccessLog != nil && len(x.g.accessLog.parts) > 0 {
		x.buffers.line = truncate(x.g.accessLog.append(x.buffers.line[:0], x), maxLogLine)
		x.g.config.AccessLog(x.buffers.line, x.start)
	}
}

// finish tells the console.
func (x *exchange) finish() {
	if x.g.config.OnRequest != nil {
		x.g.config.OnRequest(x.record())
	}
	x.g.pool.put(x.buffers)
}

func (x *exchange) record() Record {
	record := Record{
		Time: x.start, Method: x.r.Method, Path: x.path, Status: x.status, Duration: x.latency, RequestID: x.id,
	}
	if x.route != nil {
		record.Function = x.route.function.id
	}
	if x.resource != nil {
		record.ResourcePath = x.resource.path
	}
	if x.refused != nil {
		record.ResponseType = x.refused.kind
		if x.status >= http.StatusInternalServerError {
			record.Err = x.refused.cause
		}
	}
	return record
}
