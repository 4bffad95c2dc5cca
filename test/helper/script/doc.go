// Package script runs end-to-end scripts: text files that describe HTTP requests and the expected responses. A script
// needs an address and credentials only, so the same files run against the local gateway, sam local, an AWS emulator
// and a stage on AWS. environment.go lists the differences between these environments.
//
// Scripts are testscript files (github.com/rogpeppe/go-internal/testscript). A line is a command. # begins a comment.
// Single quotes keep spaces and $. $NAME is a variable. [condition] before a command makes it conditional. ! expects an
// assertion to fail. "-- name --" begins a file at the end of the script.
//
// Requests:
//
//	GET /path as admin                          also PUT, POST, DELETE, PATCH, HEAD, OPTIONS and TRACE
//	PUT /path as admin {"lifetimeDays": 30}     the rest of the line is the body, sent as application/json
//	PUT /path as admin ''                       an empty body, sent as application/json
//	PUT /path as admin file broken.json         the body is a file of the script
//	PUT /path as admin bytes EFBBBF7B7D         the body in hexadecimal digits
//	PUT /path as admin padded 102401 {}         the body, followed by spaces up to this number of bytes
//	POST /path at client as none {}             sends the request to the URL for applications, if [client-api]
//	… with 'Name: value'                        adds a header; {admin} in the value is replaced by that credential
//	… without Content-Type                      removes a header
//	until 401 within 10s GET /path as $TOKEN    repeats the request, with {n} as 0, 1 and so on, until it returns the status
//
// Assertions about the last response:
//
//	status 200
//	header Cache-Control no-store               also: header NAME matches REGEX, header NAME absent
//	json types.0.name Release                   the value at a path, compared as JSON if it is JSON, otherwise as a string
//	json types[id=release].lifetimeDays 40      [member=value] selects an element of a list; . is the whole body
//	json PATH matches REGEX                     also: json PATH absent
//	json PATH members a b c                     the object has exactly these members, in any order
//	body empty                                  the response has no body
//	error NotFoundError 'text'                  the error object: exactly id (a UUID), name and message, with this text
//	error ValidationError names /body/a /body/b the message names exactly these pointers; also: error NAME matches REGEX
//	unauthenticated                             the response to an invalid credential (401 with the error object; see environment.go)
//
// Other commands:
//
//	capture ID json id                          sets $ID; also: capture WHERE header Location
//	clock SOON +2s                              sets $SOON to a time relative to now
//	keep-lifetime release                       restores the lifetime of the type when the script ends
//
// "as" takes admin, editor or viewer (people of these names), api-token, none (no Authorization header), or a
// credential, which has a colon. Predefined variables: RANDOM (different in each run), TOMORROW, YESTERDAY (times),
// MONTH (yyyy-mm), ADMIN_ID, EDITOR_ID, VIEWER_ID and SERVICE_ACCOUNT (IDs), BASE_URL.
//
// Scripts run one after another and can run again on the same data: they use $RANDOM in names that remain, and the
// tokens that they create are deleted when they end. Feedback remains. Every exchange, except those at client, is also
// validated against api/openapi.yaml. Scripts expect the default feature types and context fields.
package script
