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
//	behavior                                                | source                             | test
//	-- routing
//	fixed segment before {param} before {proxy+}             | inferred; http-api-develop-routes  | TestRouting
//	a method's own route before ANY                          | observed                           | TestRouting
//	the raw, percent-encoded path is compared                | choice                             | TestRouting
//	a trailing slash is ignored but stays in path            | observed                           | TestEventMembers
//	only {proxy+} matches an empty segment                   | choice                             | TestRouting
//	a resource without the method: no fallback to {proxy+}   | choice                             | TestRouting
//	unknown method: MISSING_AUTHENTICATION_TOKEN             | supported-gateway-response-types   | TestRouting
//	with Authorization: INVALID_SIGNATURE                    | observed; the type is a choice     | TestRouting
//	X-HTTP-Method-Override changes the method                | AWS documentation                  | TestEvents
//	unsupported parts of the template are rejected at start  | choice                             | TestNewRejects
//	-- the function's event
//	members of payload 1.0, without null members of identity | observed                           | TestEvents
//	path and path parameters are raw                         | observed                           | TestEventMembers
//	resourceId is the path of the resource                   | choice                             | TestEvents
//	path without stage, as behind a custom domain            | how-to-custom-domains              | TestEvents
//	query, parameters and stage variables are null if empty  | observed                           | TestEventMembers
//	query: decoded, last and all values; ";" separates       | observed; known-issues             | TestEventMembers
//	domainName is the Host header                            | choice                             | TestEventMembers
//	missing or malformed Host: 400                           | choice                             | TestHost
//	header names in canonical case; last and all values      | deviation: AWS keeps the case      | TestEvents
//	Host, X-Forwarded-*, X-Amzn-Trace-Id added or extended   | observed                           | TestEventMembers
//	hop-by-hop headers and Content-Length dropped            | known-issues; observed             | TestEventMembers
//	Content-Encoding gzip and deflate: decompressed; or 415  | make-request-with-compressed-pay…   | TestCompressedRequests
//	the function does not receive that Content-Encoding      | choice                             | TestCompressedRequests
//	body: never base64; invalid UTF-8 becomes U+FFFD         | payload-encodings                  | TestEventMembers
//	x-amzn-RequestId with a UUID sets the request id         | mapping-template-reference         | TestEventMembers
//	the extended request id is unique; clients cannot set it | mapping-template-reference         | TestAccessLogLine
//	-- calling a function
//	invocation id in the context, see pkg/local/invoke       | lambda: golang-context             | TestFunctionContext
//	a client that disconnects cancels nothing                | inferred                           | TestFunctionContext
//	the function's timeout: 502                              | lambda: services-apigateway-errors | TestTimeouts
//	no result within 29 seconds: INTEGRATION_TIMEOUT         | limits                             | TestTimeouts
//	error, panic, malformed response: 502 with DEFAULT_5XX   | lambda: services-apigateway-errors | TestFunctionResponse
//	-- authorizer
//	the REQUEST event; the method ARN has the raw path       | use-lambda-authorizer; choice      | TestEvents
//	members body, empty, and isBase64Encoded                 | deviation: AWS leaves them out     | TestEvents
//	called for each request, even without Authorization      | choice; CreateAuthorizer           | TestAuthorizer
//	not called for routes without authorizer                 | use-lambda-authorizer              | TestAuthorizer
//	Allow, Deny or no match; Deny wins; * at the end only    | lambda-authorizer-output           | TestAuthorizer
//	error, timeout, malformed or unsupported policy: 500     | use-lambda-authorizer              | TestAuthorizer
//	no result within 29 seconds: AUTHORIZER_FAILURE          | choice                             | TestTimeouts
//	context values become strings; null is left out          | lambda-authorizer-output           | TestEventMembers
//	-- the response
//	status, headers, body; multiValueHeaders win             | set-up-lambda-proxy-integrations   | TestFunctionResponse
//	Content-Type application/json by default                 | observed                           | TestFunctionResponse
//	HEAD: no body and no Content-Length                      | choice                             | TestFunctionResponse
//	isBase64Encoded has no effect without binary media types | lambda-proxy-binary-media          | TestFunctionResponse
//	x-amzn-RequestId, x-amz-apigw-id, X-Amzn-Trace-Id        | observed                           | TestFunctionResponse
//	gzip from MinimumCompressionSize on, if it is accepted   | enable-compression                 | TestCompression
//	deflate is not offered; the function's coding remains    | deviation; receive-response        | TestCompression
//	gateway response: the template's status, headers, body   | gatewayResponse-definition         | TestGatewayResponse
//	types not declared use DEFAULT_4XX or DEFAULT_5XX        | supported-gateway-response-types   | TestGatewayResponse
//	x-amzn-ErrorType on gateway responses                    | observed; a few types inferred     | TestGatewayResponse
//	-- limits
//	decompressed payload above 10 MB: 413                    | choice                             | TestCompressedRequests
//	payload above 10 MB, event above 6 MB: 413, AWS's body   | limits; known-issues; observed     | TestLimits
//	response above 6 MB: 502                                 | lambda: gettingstarted-limits      | TestFunctionResponse
//	headers above 10,240 bytes: 431                          | limits                             | TestLimits
//	method ARN above 1,600 bytes: 414                        | limits                             | TestLimits
//	malformed requests: the response of net/http, mostly 400 | choice                             | TestMalformedRequests
//	a slow body: 408 and a closed connection                 | choice                             | TestMalformedRequests
//	every phase of a connection has a time limit             | choice                             | TestServerLimits
//	-- access log
//	one line per request; an unset variable is -             | variables-for-access-logging       | TestAccessLogLine
//	the line precedes the first byte of the response         | choice                             | TestAccessLogPrecedesTheResponse
//	no variable contains text that a client writes          | choice                             | TestClientsCannotForgeLines
//	a line is cut at 1,024 bytes                             | known-issues                       | TestAccessLogLineIsCut
//	one record per request for the terminal                 | choice                             | TestRecord
//
// Not emulated: throttling and quotas, usage plans and API keys, WAF, IAM (signatures, resource policies, permission to
// invoke), the authorizer cache, an authorizer's "Unauthorized" error, conditions and inner wildcards in an
// authorizer's policy (rejected with 500), X-Amzn-Remapped-* headers, other authorizers, validators, CORS, mapping
// templates, other integrations, binary media types, stage variables, caching, tracing, canaries,
// HTTP/2, TLS, cold starts, Lambda's concurrency limits.
package gateway
