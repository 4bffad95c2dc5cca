// Package script runs end-to-end scripts: text files that a reviewer who knows HTTP can read. A script knows nothing but an address and
// credentials, so the same files run against the local gateway, sam local, a deployment in an emulator and a stage on AWS; where these
// differ stands in ground.go and nowhere else.
//
// Scripts are testscript files (github.com/rogpeppe/go-internal/testscript): a line is a command, # begins a comment, '…' quotes and
// keeps $ as it is (” is a quote in it), $NAME is a variable, [condition] before a command makes it conditional, ! negates it, and
// "-- name --" begins a file at the end. The commands:
//
//	GET /path as admin                          one request; PUT, POST, DELETE, PATCH, HEAD, OPTIONS, TRACE likewise
//	PUT /path as admin {"lifetimeDays": 30}     the rest of the line is the body, sent as application/json
//	PUT /path as admin ''                       an empty body, sent as application/json
//	PUT /path as admin file broken.json         the body is a file of the script, byte for byte
//	PUT /path as admin bytes EFBBBF7B7D         the body in hexadecimal digits
//	PUT /path as admin padded 102401 {}         the body with spaces behind it, up to this number of bytes
//	… with 'Name: value'                        one more request header; {admin} in it stands for that credential
//	… without Content-Type                      one header less
//
//	status 200                                  the answer's status
//	header Cache-Control no-store               a header's value; also: header NAME matches REGEX, header NAME absent
//	json types.0.name Release                   the value at a place, compared as JSON where it reads as JSON, else as a string
//	json types[id=release].lifetimeDays 40      [member=value] finds the element of a list; . is the whole body
//	json PATH matches REGEX | absent | length N | members a b c      (members: exactly these, in any order)
//	body empty                                  no body; body TEXT: exactly this text
//	error NotFoundError 'text'                  the error object: exactly id (a UUID), name and message, with this text
//	error ValidationError names /body/a /body/b the same; the message names exactly these places; also: error NAME matches REGEX
//	unauthenticated                             the answer to an invalid credential (401 with the error object; see ground.go)
//	capture ID json id                          sets $ID; also: capture WHERE header Location
//
//	until 401 within 10s GET /path as $TOKEN    repeats the request until it gets the status
//	clock SOON +2s                              sets $SOON to a time, counted from now
//	keep-lifetime release                       puts the type's lifetime back when the script ends
//	fill-tokens $SERVICE_ACCOUNT                makes tokens for a service account until that is refused; the refusal is the answer
//
// Who: admin, editor and viewer are the people of these names in the credentials file, api-token is its API token, none sends no
// Authorization header; anything with a colon is a credential as it stands. Variables from the start: RANDOM (another one in each run),
// TOMORROW, YESTERDAY (date-times), MONTH (as 4.6 takes it), ADMIN_ID, EDITOR_ID, VIEWER_ID and SERVICE_ACCOUNT (ids), BASE_URL.
//
// Scripts run one after the other and may be run again on the same data: names that stay are made with $RANDOM, tokens that a script
// made are deleted when it ends, feedback records stay. Every exchange is held against the API's document (package openapi) besides.
//
// Not here: what a stage may have in it. Scripts assume the default feature types and context fields and the credentials' people.
package script
