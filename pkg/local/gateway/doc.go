// Package gateway plays Amazon API Gateway (a regional REST API with Lambda proxy integrations and one REQUEST authorizer) around Lambda
// handlers, in one process. New takes the API as template.yaml declares it and the functions' handlers; the Gateway is an http.Handler.
//
// The one concept is the exchange: a request gets its ids, finds its route, is encoded once as the event that AWS would send, passes the
// authorizer and the function, and ends either as the function's answer or as a refusal, which a gateway response fills in.
//
// It reads no template (package samtemplate does) and no environment, listens on nothing, and knows nothing of streams, logs or schedules.
//
// # What is played, and what is not
//
// Sources: a name is a page of the API Gateway Developer Guide (without its api-gateway-), lambda: one of the Lambda Developer Guide;
// "seen" is what live answers of AWS showed; "inferred" follows from other behaviour; "choice" is what no source settles, or what is
// ours alone. The last column is the test.
//
//	behaviour                                                   | source                                 | test
//	-- routing
//	a fixed segment wins over {param}, that over {proxy+}       | inferred; http-api-develop-routes      | TestRouting
//	a method's own route wins over ANY                          | seen                                   | TestRouting
//	routes are found by the raw, percent-encoded path           | choice                                 | TestRouting
//	a trailing slash is ignored, but stays in path              | seen                                   | TestRawPathReachesTheEvent
//	a doubled slash is no resource; only {proxy+} takes it      | choice                                 | TestRouting
//	a parent without methods falls back to {proxy+}             | choice                                 | TestRouting
//	a matched resource without the method: unknown, no fallback | choice                                 | TestMatchedResourceLacksMethod
//	unknown path or method: MISSING_AUTHENTICATION_TOKEN        | supported-gateway-response-types       | TestUnknownPathOrMethod
//	with Authorization: read as a signature, text echoed        | seen; the type is a choice             | TestUnknownPathWithAuthorization
//	methods but the seven are unknown methods                   | choice                                 | TestUnknownPathOrMethod
//	X-HTTP-Method-Override changes the method                   | AWS documentation                      | TestMethodOverride
//	an API that cannot be played is refused at start            | choice                                 | TestNewRefusesWhatItCannotPlay
//	-- the function's event
//	the event's members (payload 1.0)                           | seen                                   | TestProxyEvent
//	path, pathParameters and requestContext.path are raw        | seen                                   | TestRawPathReachesTheEvent
//	custom domain, empty base path: path without stage          | how-to-custom-domains                  | TestProxyEvent
//	domainName is the Host header with its port                 | choice                                 | TestRequestHeaders
//	no Host: the connection's address; none that is one: 400    | choice                                 | TestHost
//	body, query, parameters, stage variables null if empty      | seen                                   | TestEventHasNullForEmptyParts
//	query decoded, last value single, all in multiValue         | seen                                   | TestQueryIsDecoded
//	a semicolon splits the query                                | known-issues                           | TestQueryIsDecoded
//	header names in canonical case, as net/http gives them      | deviation: AWS keeps the client's      | TestProxyEvent
//	last header value single, all in multiValueHeaders          | seen                                   | TestProxyEvent
//	Host, X-Forwarded-*, X-Amzn-Trace-Id added or extended      | seen                                   | TestRequestHeaders
//	hop-by-hop and other headers dropped; Content-Length        | known-issues; seen                     | TestRequestHeaders
//	never base64; what is not UTF-8 becomes U+FFFD              | payload-encodings                      | TestBodyThatIsNotUTF8
//	x-amzn-RequestId with a UUID chooses the request id         | mapping-template-reference             | TestRequestID
//	the extended request id is unique and nobody's choice       | mapping-template-reference             | TestRequestID
//	-- calling a function
//	deadline, function ARN, own invocation id in the context    | lambda: golang-context                 | TestFunctionsContext
//	the client's going away cancels nothing                     | inferred                               | TestClientLeavingCancelsNothing
//	the context ends at the function's Timeout                  | lambda: golang-context                 | TestContextEndsAtTheDeadline
//	Timeout over: 502, and nobody waits for the function        | lambda: services-apigateway-errors     | TestTimeouts
//	nothing within 29 seconds: INTEGRATION_TIMEOUT              | limits                                 | TestTimeouts
//	error, panic, no answer: 502 with DEFAULT_5XX               | lambda: services-apigateway-errors     | TestFunctionFaultIs502
//	a panic's stack is reported                                 | choice                                 | TestPanicHasItsStack
//	concurrent requests keep apart                              | choice                                 | TestConcurrentRequestsKeepApart
//	handlers of lambda.NewHandler are refused                   | aws-lambda-go v1.55 handler.go         | TestNewRefusesSharedBuffers
//	-- authorizer
//	the REQUEST event, {} where the function's has null         | use-lambda-authorizer; seen            | TestAuthorizerEvent
//	the method ARN has the raw path                             | choice                                 | TestAuthorizerEvent
//	TTL 0: asked without its identity source, too               | choice; CreateAuthorizer               | TestTTLZeroAsksAllTheSame
//	another TTL: identity source missing: 401, no call          | use-lambda-authorizer                  | TestOtherTTLNeedsIdentitySource
//	routes without authorizer do not ask it                     | use-lambda-authorizer                  | TestOtherRoutesDoNotAsk
//	Allow, Deny, no match; * and ?; Deny wins                   | lambda-authorizer-output               | TestPolicyEvaluation
//	error text "Unauthorized" exactly: 401; else 500            | use-lambda-authorizer                  | TestAuthorizerFailures
//	malformed output, no principalId, object in context: 500    | lambda-authorizer-output               | TestAuthorizerFailures
//	timeout: 500; none within 29 s: AUTHORIZER_FAILURE          | choice                                 | TestTimeouts
//	context values as strings; null is left out                 | lambda-authorizer-output               | TestAuthorizerContextAsStrings
//	method ARN above 1,600 bytes: 414 with DEFAULT_4XX          | limits                                 | TestMethodARNAbove1600BytesIs414
//	resource in a policy above 512 characters: 500              | limits                                 | TestAuthorizerFailures
//	-- the function's answer
//	status, headers, body; multiValueHeaders win                | set-up-lambda-proxy-integrations       | TestFunctionAnswer
//	Content-Type application/json by default, empty bodies, too | seen                                   | TestFunctionAnswer
//	WWW-Authenticate and others become X-Amzn-Remapped-…        | known-issues                           | TestFunctionAnswer
//	hop-by-hop and other headers dropped                        | known-issues                           | TestFunctionAnswer
//	isBase64Encoded changes nothing: no binary media types      | lambda-proxy-binary-media              | TestFunctionAnswer
//	unknown key, no JSON, wrong types or statusCode: 502        | set-up-lambda-proxy-integrations       | TestFunctionFaultIs502
//	x-amzn-RequestId, x-amz-apigw-id, X-Amzn-Trace-Id           | seen                                   | TestGatewayHeaderSpelling
//	HEAD has headers, no body                                   | RFC 9110                               | TestHeadHasHeadersButNoBody
//	-- gateway responses
//	status, templates with variables, header mappings           | gatewayResponse-definition             | TestGatewayResponseIsFilledIn
//	no escaping; unset is empty, as a header absent             | gatewayResponse-definition             | TestGatewayResponseIsFilledIn
//	$context.authorizer.* once a policy came back               | inferred                               | TestGatewayResponseIsFilledIn
//	types not customised take DEFAULT_4XX or DEFAULT_5XX        | supported-gateway-response-types       | TestDefault4XXAnd5XX
//	StatusCode on DEFAULT_* rewrites all others' status         | supported-gateway-response-types       | TestDefault4XXAnd5XX
//	default bodies and x-amzn-ErrorType                         | seen; a few types inferred             | TestDefaultBodies
//	413 cannot be customised                                    | known-issues                           | TestTooLargeCannotBeCustomised
//	-- limits
//	payload above 10 MB: 413, the gateway's own text            | limits; seen                           | TestLimits
//	event above 6,291,456 bytes: 413                            | lambda: gettingstarted-limits          | TestLimits
//	response above 6 MB: 502                                    | lambda: gettingstarted-limits          | TestFunctionFaultIs502
//	headers above 10,240 bytes: 431                             | limits                                 | TestLimits
//	any other bytes: an answer or a closed connection           | choice                                 | TestAnyBytesGetAnAnswer
//	a slow body: 408 and a closed connection                    | choice                                 | TestSlowBodyIsAnsweredAndClosed
//	every phase of a connection is bounded                      | choice                                 | TestServerBoundsEveryPhase
//	-- access log
//	one line per request in the format, unset is -              | variables-for-access-logging; inferred | TestAccessLogLine
//	every request has one (AWS may leave out 413, 431)          | rest-api-monitor                       | TestAccessLogHasEveryRequest
//	the line is there before the first byte of the answer       | choice                                 | TestAccessLogComesBeforeTheAnswer
//	a line is cut at 1,024 bytes                                | known-issues                           | TestAccessLogLineIsCut
//	no format, no access log                                    | set-up-logging                         | TestNoFormatNoAccessLog
//	a record per request for the console                        | choice                                 | TestRecord
//
// Not played: throttling and quotas (THROTTLED, QUOTA_EXCEEDED), usage plans and API keys, WAF, IAM (a real signature, resource policies,
// whether the gateway may invoke the function), the authorizer's cache (each request asks it), TOKEN and Cognito authorizers, Condition,
// NotAction, NotResource and variables in an authorizer's policy (refused as malformed), request validators and models, CORS, mapping
// templates, other integrations, binary media types, stage variables, compression, caching, client certificates, tracing (the trace id
// is only passed on), canaries, reserved paths (/ping), HTTP/2 and TLS, cold starts, one event per process at a time, Lambda's own
// concurrency limit, REPORT lines.
package gateway
