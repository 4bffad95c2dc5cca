// Package contract tests the statements of docs/contract.md that concern all operations, over HTTP, against what make
// run starts. The other statements are tested beside the code, with all values, and over HTTP in test/e2e, with a few
// examples.
//
// All exchanges are compared with api/openapi.yaml. The tests take operations, requests and permissions from that
// document, so a new operation needs no change here.
//
// The statements, and their sections in docs/contract.md:
//
//	behavior                                                   | section
//	errors have three properties and the name of the status        | 1
//	429, 502, 504 and gateway errors                            | 1
//	each name has one status                                    | 1
//	no internals in errors                                      | 1
//	error IDs, also in the log                                  | 1
//	400 names pointers, the expected and the sent value         | 1
//	values are cut after 100 characters                         | 1
//	no credential in errors                                     | 1
//	forms of credentials                                        | 1
//	403 names the permission, the kind of credential or a limit | 1
//	401 has one message and WWW-Authenticate                    | 1
//	unknown path or method: 404, no 405                         | 1
//	DynamoDB fails: 503 or 500                                  | 1
//	nothing partly written                                      | 1
//	order of checks                                             | 1
//	errors of the platform                                      | 1
//	limits of the platform                                      | 1
//	malformed HTTP                                              | 1
//	bare token and Bearer                                       | 2
//	content type of operations with a body, ignored otherwise   | 2
//	forms of the content type                                   | 2
//	strict JSON without coercion                                | 2
//	all syntax errors                                           | 2
//	notations of integers                                       | 2
//	base64-encoded bodies                                       | 2
//	date-times                                                  | 2
//	all forms of date-times                                     | 2
//	other texts are not date-times                              | 2
//	path parameters                                             | 2
//	invalid escapes                                             | 2
//	query, trailing and doubled slashes                         | 2
//	compression                                                 | 2
//	reasons of changes                                          | 2
//	response headers                                            | 2
//	formats, hash and one response with the token               | 3
//	only the hash is compared                                   | 3
//	unknown and wrong tokens take the same path                 | 3
//	expiry, deletion, disabled and deleted users                | 3
//	expired PATs remain                                         | 3
//	a deleted token is rejected by the next request             | 3
//	the authorizer's cache is off by default                    | 3
//	seenAt                                                      | 3
//	60 seconds exactly                                          | 3
//	seenAt cannot be written                                    | 3
//	roles and users are read for each request                   | 3
//	permissions of each operation                               | 3
//	form of a JWT                                               | 3
//	a JWT is never treated as a PAT                             | 3
//	8,192 bytes                                                 | 3
//	compact form, one spelling of base64url                     | 3
//	no duplicate properties, valid UTF-8                           | 3
//	forged and changed signatures                               | 3
//	none, HMAC and other algorithms, confused key types         | 3
//	jwk, jku, x5u and x5c in the token                          | 3
//	crit and b64                                                | 3
//	other kinds of tokens: header                               | 3
//	other kinds of tokens: claims                               | 3
//	iss                                                         | 3
//	aud                                                         | 3
//	azp                                                         | 3
//	exp with leeway                                             | 3
//	nbf and iat with leeway                                     | 3
//	times as strings, floats, 1e400, negative                   | 3
//	sub                                                         | 3
//	email_verified, email and name                              | 3
//	weak, private, symmetric keys, keys for other uses, equal IDs| 3
//	the first JWT fetches the keys                              | 3
//	a token that cannot be valid fetches nothing                | 3
//	2 seconds, slow responses, deadline of the request          | 3
//	1 MB                                                        | 3
//	compressed documents                                        | 3
//	https, URLs in the discovery document                       | 3
//	redirects                                                   | 3
//	discovery document of another issuer                        | 3
//	malformed documents                                         | 3
//	http:// of loopback addresses                               | 3
//	settings of the issuer                                      | 3
//	refresh after an hour, revoked keys                         | 3
//	keys of a process that was idle                             | 3
//	unknown keys: one fetch per 30 seconds, rotation            | 3
//	a key that is replaced under its ID                         | 3
//	one shared fetch                                            | 3
//	unreachable issuer                                          | 3
//	issuer that returns                                         | 3
//	without an issuer nothing is fetched                        | 3
//	other credentials fetch nothing                             | 3
//	reasons contain no text of the token                        | 3
//	log line of a refused JWT                                   | 3
//	claims grant no role                                        | 3
//	a failure of DynamoDB is not a 401                          | 3
//	the person who is linked to an identity                     | 3
//	the person with the e-mail address, who is then linked      | 3
//	a new person with the default role; names                   | 3
//	an address does not find a person who has an identity       | 3
//	an address of a disabled person that is not verified        | 3
//	addresses that are equal in upper case only                 | 3
//	an address that is reserved for a missing account           | 3
//	concurrent first requests                                   | 3
//	unique e-mail addresses                                     | 3
//	created, changed and null properties                           | 4.1
//	userId in the body                                          | 4.1
//	one UpdateItem without a read                               | 4.1
//	default types and their order                               | 4.2
//	order of creation                                           | 4.2
//	lifetime, 0, null, limits, unknown ID, letter case          | 4.3
//	the same value starts no re-evaluation                      | 4.3
//	the response does not wait                                  | 4.3
//	date arithmetic does not overflow                           | 4.3
//	properties, order and usage of context fields                  | 4.4
//	order by code points                                        | 4.4
//	default context fields                                      | 4.4
//	created token and Location                                  | 4.5
//	description, expiry, account, duplicate                     | 4.5
//	all account IDs                                             | 4.5
//	limit                                                       | 4.5
//	parameter of the limit                                      | 4.5
//	unknown results                                             | 4.5
//	createdAt never falls                                       | 4.5
//	highest ID                                                  | 4.5
//	one sequence of IDs                                         | 4.5
//	concurrent creations and deletions                          | 4.5
//	creation and deletion are one transaction each              | 4.5
//	period, month without data                                  | 4.6
//	groups, days and paths                                      | 4.6
//	sorted report, groups without a count                       | 4.6
//	own tokens only, description and limit                      | 4.7
//	life of a service account, as a provider manages it        | 4.8
//	username, name, role                                       | 4.8
//	properties that were not sent, order                          | 4.8
//	letter case of usernames                                   | 4.8
//	concurrent creations                                       | 4.8
//	tokens of a deleted account                                | 4.8
//	interrupted deletion                                       | 4.8
//	parallel deletions                                         | 4.8
//	unfinished deletions are reported                          | 4.8
//	tokens of a service account: list, get, delete              | 4.9
//	unknown accounts and tokens, and those of others            | 4.9
//	list and creation of own tokens, their limit                | 4.10
//	deleted account of the caller                               | 4.10
//	get, create, replace and delete a context field             | 4.11
//	properties of the body                                         | 4.11
//	default of sortOrder                                        | 4.11
//	what an update keeps                                        | 4.11
//	concurrent creations                                        | 4.11
//	no toggle is left with a field that is gone                 | 4.11
//	a legal value or a stickiness that is in use                | 4.11
//	own account and permissions                                 | 4.12
//	properties, deleted account of the caller                      | 4.12
//	search of the event log                                     | 4.13
//	what a token did                                            | 4.13
//	parameters that cannot be used                              | 4.13
//	terms, words, relevance                                     | 4.15
//	types of events                                             | 4.13
//	properties of an event                                         | 4.13
//	size of a page                                              | 4.13
//	life of a toggle, its properties                               | 4.14
//	names, projects, types, bodies                              | 4.14
//	potentiallyStaleAt                                          | 4.14
//	stage, lifecycle                                            | 4.14
//	list of a project                                           | 4.14
//	a list above 5 MB                                           | 4.14
//	fifty toggles are marked together                           | 4.14
//	all toggles are marked or none                              | 4.14
//	a context field of an archived toggle is gone               | 4.14
//	over HTTP, for each role                                    | 4.14
//	filters, order, pages, total; what is read                  | 4.15
//	the index is behind                                         | 4.15
//	parameters that cannot be used                              | 4.15
//	terms, words, relevance                                     | 4.15
//	units of a search                                           | 4.15
//	counts of toggles                                           | 4.16
//	ETag and If-Match of toggles                                | 4.17
//	ETag and If-Match of context fields                         | 4.17
//	preconditions of every change                               | 4.17
//	preconditions of feedback                                   | 4.17
//	preconditions of service accounts                           | 4.17
//	forms of If-Match and If-None-Match                         | 4.17
//	unknown properties                                             | 4.17
//	a misspelled property of a context field                      | 4.17
//	environments: names, bodies, limit                          | 4.18
//	interrupted deletion of an environment                      | 4.18
//	list of projects                                            | 4.19
//	constraints: values, fields, legal values                   | 4.20
//	segments: IDs, names, limits, fields, strategies            | 4.22
//	switches and strategies of a toggle                         | 4.23
//	switches of several toggles; order, types of strategies     | 4.23
//	dependencies, children, copies                              | 4.24
//	client tokens: secrets, scopes, limits, expiry              | 4.25
//	change of a lifetime, in both directions                    | 5
//	passing of time                                             | 5
//	current lifetime, idempotent, continues                     | 5
//	cost                                                        | 5
//	writes decide the flag                                      | 5
//	a lifetime that changes during a write                      | 5
//	each request to an operation's resource                     | 6
//	day of the request                                          | 6
//	a batch is counted once                                     | 6
//	after a crash: answered ≤ counted ≤ sent                    | 6
//	redirects below a stage or a domain                         | 7
//	HEAD                                                        | 7
//	headers of a page                                           | 7
//	files, their types and caching                              | 7
//	unknown files and spellings                                 | 7
//	other methods                                               | 7
//	the issuer's endpoints, escaped; failure of the issuer      | 7
//	deployment                                                  | 7
package contract
