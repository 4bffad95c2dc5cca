package client

import (
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"toggleadmin/pkg/delivery/clienttokentable"
	"toggleadmin/pkg/delivery/counting"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/jsonbody"
	"toggleadmin/pkg/platform/lambdahttp"
)

// Handler serves the applications' side. It is safe for concurrent use.
type Handler struct {
	cache    *cache
	routes   map[string]route // by method and path
	tokens   *jsonbody.Schema // of POST /edge/validate
	origins  []string
	proxies  Proxies
	secrets  *originSecrets // nil: requests need none
	now      func() time.Time
	random   io.Reader
	newID    func() string
	logger   *slog.Logger
	function string // the dimension of metrics
	counts   counts
	recorder *counting.Recorder
	seen     *counting.SeenTokens
}

// New returns a Handler.
func New(c Config) *Handler {
	counted := counting.Config{
		DynamoDB: c.DynamoDB, Tables: c.Tables, Now: c.Now, Random: c.Random, Logger: c.Logger, Function: c.Function,
	}
	h := &Handler{
		routes:   routes(),
		tokens:   jsonbody.MustCompile([]byte(validateSchema)),
		cache:    newCache(newStore(c.DynamoDB, c.Tables, c.Now), c.Freshness, c.Now),
		origins:  c.Origins,
		proxies:  c.Proxies,
		now:      c.Now,
		random:   c.Random,
		newID:    c.NewID,
		logger:   c.Logger,
		function: c.Function,
		recorder: counting.New(counted),
		seen:     counting.NewSeenTokens(counted),
	}
	if c.OriginSecrets != nil {
		h.secrets = &originSecrets{read: c.OriginSecrets, now: c.Now, logger: c.Logger}
	}
	return h
}

// route is an operation of the applications' side.
type route struct {
	kind   kind
	serve  func(*Handler, *request) error
	counts bool // it is a report, after which usage is written
}

// routes returns the operations by method and path. A path that ends with a slash stands for the paths below it, whose
// last part is a name.
func routes() map[string]route {
	return map[string]route{
		"GET /api/client/features":           {backend(), (*Handler).getFeatures, false},
		"GET /api/client/features/":          {backend(), (*Handler).getFeature, false},
		"POST /api/client/register":          {backend(), (*Handler).backendReport, true},
		"POST /api/client/metrics":           {backend(), (*Handler).backendReport, true},
		"POST /api/client/metrics/bulk":      {backend(), (*Handler).bulkMetrics, true},
		"GET /api/frontend":                  {frontend(), (*Handler).getFrontend, false},
		"POST /api/frontend":                 {frontend(), (*Handler).postFrontend, false},
		"POST /api/frontend/client/metrics":  {frontend(), (*Handler).frontendReport, true},
		"POST /api/frontend/client/register": {frontend(), (*Handler).frontendReport, true},
		"POST /ofrep/v1/evaluate/flags":      {anyType(), (*Handler).evaluateFlags, false},
		"POST /ofrep/v1/evaluate/flags/":     {anyType(), (*Handler).evaluateFlag, false},
	}
}

// The paths below which everything needs a client token, whether or not it exists.
func protected() []string { return []string{"/api/client", "/api/frontend", "/ofrep"} }

// request is a request with a valid token.
type request struct {
	*http.Request
	w http.ResponseWriter
	reading
	name string // the last part of a path that ends with a name
}

// Serve serves a request. It is a lambdahttp.HandlerFunc.
func (h *Handler) Serve(w http.ResponseWriter, r *http.Request) error {
	if err := h.secrets.check(r); err != nil {
		return err
	}
	if isHealthCheck(r) {
		return lambdahttp.WriteHealth(w)
	}
	sent := &statusWriter{ResponseWriter: w, status: http.StatusOK}
	err := h.serve(sent, r)
	if err != nil {
		h.counts.addError(err)
		sent.status = lambdahttp.Status(apierror.KindOf(err))
	}
	if path, ok := h.countedPath(cleanPath(r.URL.Path)); ok {
		h.recorder.CountRequest(path, sent.status)
	}
	h.recorder.StartWriting(r.Context()).Wait()
	h.counts.log(r.Context(), h.logger, h.function, h.now())
	h.counts.logStale(r.Context(), h.logger, h.function, h.now())
	h.recorder.Log(r.Context(), h.now())
	return err
}

// isHealthCheck reports whether a request asks only whether the function can be reached.
func isHealthCheck(r *http.Request) bool {
	return cleanPath(r.URL.Path) == "/health" && (r.Method == http.MethodGet || r.Method == http.MethodHead)
}

// statusWriter remembers the status of a response.
type statusWriter struct {
	http.ResponseWriter
	status int
}

// WriteHeader implements http.ResponseWriter.
func (w *statusWriter) WriteHeader(status int) {
	w.status = status
	w.ResponseWriter.WriteHeader(status)
}

// countedPath returns under which path a request is counted. Only paths that have an operation are counted.
func (h *Handler) countedPath(path string) (counted string, ok bool) {
	if path == validatePath {
		return "/edge", true
	}
	for _, method := range []string{http.MethodGet, http.MethodPost} {
		if found, _ := h.findRoute(method, path); found == nil {
			continue
		}
		for _, prefix := range protected() {
			if isBelow(prefix, path) {
				return prefix, true
			}
		}
	}
	return "", false
}

func (h *Handler) serve(w http.ResponseWriter, r *http.Request) error {
	path := cleanPath(r.URL.Path)
	if isForBrowsers(path) {
		h.allowOrigin(w.Header(), r)
		if r.Method == http.MethodOptions {
			preflight(w, r)
			return nil
		}
	}
	if r.Method == http.MethodPost && path == validatePath {
		return h.validateTokens(w, r)
	}
	found, name := h.findRoute(r.Method, path)
	if found == nil && !isProtected(path) {
		return apierror.New(apierror.NotFound, apierror.TextPathNotAvailable)
	}
	admits := anyType()
	if found != nil {
		admits = found.kind
	}
	authorized, err := h.authorize(r, admits, found != nil && found.counts)
	if err != nil {
		return err
	}
	if found == nil {
		return apierror.New(apierror.NotFound, apierror.TextPathNotAvailable)
	}
	defer h.seen.StartUpdate(r.Context(), authorized.token).Wait()
	authorized.w, authorized.name = w, name
	if err := found.serve(h, authorized); err != nil {
		return err
	}
	h.counts.addReading(authorized.reading, h.now())
	return nil
}

// cleanPath returns a path in which several slashes are one: SDKs append paths to a URL that can end with a slash.
func cleanPath(path string) string {
	if strings.HasPrefix(path, "/") && !strings.HasSuffix(path, "/") && !strings.Contains(path, "//") {
		return path
	}
	var parts []string
	for part := range strings.SplitSeq(path, "/") {
		if part != "" {
			parts = append(parts, part)
		}
	}
	return "/" + strings.Join(parts, "/")
}

// findRoute returns the operation of a path, and the name at the end of the path.
func (h *Handler) findRoute(method, path string) (found *route, name string) {
	if method == http.MethodHead {
		method = http.MethodGet
	}
	if r, ok := h.routes[method+" "+path]; ok {
		return &r, ""
	}
	i := strings.LastIndex(path, "/") + 1
	if r, ok := h.routes[method+" "+path[:i]]; ok {
		return &r, path[i:]
	}
	return nil, ""
}

func isProtected(path string) bool {
	return slices.ContainsFunc(protected(), func(prefix string) bool { return isBelow(prefix, path) })
}

// isBelow reports whether a path is a prefix or a path below it.
func isBelow(prefix, path string) bool { return path == prefix || strings.HasPrefix(path, prefix+"/") }

// authorize reads the token of a request. It reads nothing else, and no body. Unless the request is a report, which is
// written with what was counted before, usage is written at the same time.
func (h *Handler) authorize(r *http.Request, admits kind, isReport bool) (*request, error) {
	credential := credentialOf(r)
	if credential == "" && strings.HasPrefix(cleanPath(r.URL.Path), "/ofrep/") {
		credential = r.Header.Get(headerAPIKey)
	}
	if clienttokentable.IsOfAdministration(credential) {
		return nil, errOtherKind(admits.needs)
	}
	secret, ok := clienttokentable.ParseCredential(credential)
	if !ok {
		return nil, errNoToken()
	}
	if !isReport {
		defer h.recorder.StartWriting(r.Context()).Wait()
	}
	read, err := h.cache.read(r.Context(), secret)
	if err != nil {
		return nil, err
	}
	if !slices.Contains(admits.types, read.token.Type) {
		return nil, errOtherKind(admits.needs)
	}
	return &request{Request: r, reading: read}, nil
}
