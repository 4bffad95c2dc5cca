// Package gateway emulates Amazon API Gateway in one process: a regional REST API with Lambda proxy integrations and
// one REQUEST authorizer, as far as template.yaml uses them. New takes the API as package samtemplate reads it and the
// functions. The Gateway is an http.Handler; NewServer serves it.
//
// New rejects what the gateway does not support: an authorizer cache, $context variables that the template does not
// use, gateway response templates for other media types, a missing DEFAULT_4XX or DEFAULT_5XX.
//
// # Emulated behavior
//
// Sources: a name is a page of the API Gateway Developer Guide (without "api-gateway-"), "lambda:" one of the Lambda
// Developer Guide. "observed" means seen in responses of AWS, "inferred" follows from other behavior, "choice" is not
// settled by any source or is specific to this gateway.
//
//	behavior                                                | source
//	-- routing
//	fixed segment before {param} before {proxy+}             | inferred; http-api-develop-routes
//	a method's own route before ANY                          | observed
//	the raw, percent-encoded path is compared                | choice
//	a trailing slash is ignored but stays in path            | observed
//	only {proxy+} matches an empty segment                   | choice
//	a resource without the method: no fallback to {proxy+}   | choice
//	unknown method: MISSING_AUTHENTICATION_TOKEN             | supported-gateway-response-types
//	with Authorization: INVALID_SIGNATURE                    | observed; the type is a choice
//	X-HTTP-Method-Override changes the method                | AWS documentation
//	unsupported parts of the template are rejected at start  | choice
//	-- the function's event
//	properties of payload 1.0, without null properties of identity | observed
//	path and path parameters are raw                         | observed
//	resourceId is the path of the resource                   | choice
//	path without stage, as behind a custom domain            | how-to-custom-domains
//	query, parameters and stage variables are null if empty  | observed
//	query: decoded, last and all values; ";" separates       | observed; known-issues
//	domainName is the Host header                            | choice
//	missing or malformed Host: 400                           | choice
//	header names in canonical case; last and all values      | deviation: AWS keeps the case
//	Host, X-Forwarded-*, X-Amzn-Trace-Id added or extended   | observed
//	hop-by-hop headers and Content-Length dropped            | known-issues; observed
//	Content-Encoding gzip and deflate: decompressed; or 415  | make-request-with-compressed-pay…
//	the function does not receive that Content-Encoding      | choice
//	body: never base64; invalid UTF-8 becomes U+FFFD         | payload-encodings
//	x-amzn-RequestId with a UUID sets the request id         | mapping-template-reference
//	the extended request id is unique; clients cannot set it | mapping-template-reference
//	-- calling a function
//	invocation id in the context, see pkg/local/invoke       | lambda: golang-context
//	a client that disconnects cancels nothing                | inferred
//	the function's timeout: 502                              | lambda: services-apigateway-errors
//	no result within 29 seconds: INTEGRATION_TIMEOUT         | limits
//	error, panic, malformed response: 502 with DEFAULT_5XX   | lambda: services-apigateway-errors
//	-- authorizer
//	the REQUEST event; the method ARN has the raw path       | use-lambda-authorizer; choice
//	properties body, empty, and isBase64Encoded                 | deviation: AWS leaves them out
//	called for each request, even without Authorization      | choice; CreateAuthorizer
//	not called for routes without authorizer                 | use-lambda-authorizer
//	Allow, Deny or no match; Deny wins; * at the end only    | lambda-authorizer-output
//	error, timeout, malformed or unsupported policy: 500     | use-lambda-authorizer
//	no result within 29 seconds: AUTHORIZER_FAILURE          | choice
//	context values become strings; null is left out          | lambda-authorizer-output
//	-- the response
//	status, headers, body; multiValueHeaders win             | set-up-lambda-proxy-integrations
//	Content-Type application/json by default                 | observed
//	HEAD: no body and no Content-Length                      | choice
//	isBase64Encoded has no effect without binary media types | lambda-proxy-binary-media
//	x-amzn-RequestId, x-amz-apigw-id, X-Amzn-Trace-Id        | observed
//	gzip from MinimumCompressionSize on, if it is accepted   | enable-compression
//	deflate is not offered; the function's coding remains    | deviation; receive-response
//	gateway response: the template's status, headers, body   | gatewayResponse-definition
//	types not declared use DEFAULT_4XX or DEFAULT_5XX        | supported-gateway-response-types
//	x-amzn-ErrorType on gateway responses                    | observed; a few types inferred
//	-- limits
//	decompressed payload above 10 MB: 413                    | choice
//	payload above 10 MB, event above 6 MB: 413, AWS's body   | limits; known-issues; observed
//	response above 6 MB: 502                                 | lambda: gettingstarted-limits
//	headers above 10,240 bytes: 431                          | limits
//	method ARN above 1,600 bytes: 414                        | limits
//	malformed requests: the response of net/http, mostly 400 | choice
//	a slow body: 408 and a closed connection                 | choice
//	every phase of a connection has a time limit             | choice
//	-- access log
//	one line per request; an unset variable is -             | variables-for-access-logging
//	the line precedes the first byte of the response         | choice
//	no variable contains text that a client writes          | choice
//	a line is cut at 1,024 bytes                             | known-issues
//	one record per request for the terminal                 | choice
//
// Not emulated: throttling and quotas, usage plans and API keys, WAF, IAM (signatures, resource policies, permission to
// invoke), the authorizer cache, an authorizer's "Unauthorized" error, conditions and inner wildcards in an
// authorizer's policy (rejected with 500), X-Amzn-Remapped-* headers, other authorizers, validators, CORS, mapping
// templates, other integrations, binary media types, stage variables, caching, tracing, canaries,
// HTTP/2, TLS, cold starts, Lambda's concurrency limits.
package gateway
