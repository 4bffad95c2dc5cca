// Package contract tests the statements of docs/contract.md that concern all operations, over HTTP, against what make
// run starts. The other statements are tested where the table says: all values beside the code, and a few examples over
// HTTP in test/e2e.
//
// All exchanges are compared with api/openapi.yaml. The tests take operations, requests and permissions from that
// document, so a new operation needs no change here.
//
// TestStatementsHaveTests compares this table with the tests.
//
//	behavior                                                   | section | test
//	errors have three members and the name of the status        | 1   | test/openapi TestTransport
//	429, 502, 504 and gateway errors                            | 1   | pkg/local/gateway TestGatewayResponse
//	each name has one status                                    | 1   | pkg/platform/apierror TestWrite
//	no internals in errors                                      | 1   | pkg/platform/apierror TestWrite
//	error IDs, also in the log                                  | 1   | pkg/platform/lambdahttp TestResponses
//	400 names pointers, the expected and the sent value         | 1   | pkg/platform/jsonbody TestKeywords
//	values are cut after 100 characters                         | 1   | pkg/platform/apierror TestEcho
//	no credential in errors                                     | 1   | TestSection1NoCredentialInErrors
//	forms of credentials                                        | 1   | pkg/platform/apierror TestEchoRedactsCredentials
//	403 names the permission, the kind of credential or a limit | 1   | TestSection3Permissions
//	401 has one message and WWW-Authenticate                    | 1   | TestSection3InvalidCredentials
//	unknown path or method: 404, no 405                         | 1   | TestSection1UnknownPath
//	DynamoDB fails: 503 or 500                                  | 1   | test/runtimeapi TestWithoutDynamoDB
//	nothing partly written                                      | 1   | test/simulation TestSeeds
//	order of checks                                             | 1   | test/e2e TestScripts
//	errors of the platform                                      | 1   | pkg/local/gateway TestLimits
//	limits of the platform                                      | 1   | pkg/local/gateway TestLimits
//	malformed HTTP                                              | 1   | pkg/local/gateway TestMalformedRequests
//	bare token and Bearer                                       | 2   | pkg/api/authorizer TestCredentials
//	content type of operations with a body, ignored otherwise   | 2   | TestSection2ContentType
//	forms of the content type                                   | 2   | pkg/platform/jsonbody TestContentType
//	strict JSON without coercion                                | 2   | pkg/platform/jsonbody TestKeywords
//	all syntax errors                                           | 2   | pkg/platform/jsonbody TestSyntax
//	notations of integers                                       | 2   | pkg/platform/jsonbody TestIntegers
//	base64-encoded bodies                                       | 2   | pkg/platform/lambdahttp TestRequest
//	date-times                                                  | 2   | pkg/api/feedback TestUpdate
//	all forms of date-times                                     | 2   | pkg/platform/datetime TestParse
//	other texts are not date-times                              | 2   | pkg/platform/datetime TestParseRejects
//	path parameters                                             | 2   | pkg/platform/lambdahttp TestRequest
//	invalid escapes                                             | 2   | pkg/platform/lambdahttp TestRequest
//	query, trailing and doubled slashes                         | 2   | TestSection2QueryAndSlashes
//	compression                                                 | 2   | pkg/local/gateway TestCompression
//	response headers                                            | 2   | test/openapi TestTransport
//	formats, hash and one response with the token               | 3   | pkg/api/pat TestCreate
//	only the hash is compared                                   | 3   | pkg/platform/access TestVerifier
//	unknown and wrong tokens take the same path                 | 3   | pkg/api/authorizer TestCredentials
//	expiry, deletion, disabled and deleted users                | 3   | pkg/api/authorizer TestCredentials
//	expired PATs remain                                         | 3   | test/e2e TestScripts
//	a deleted token is rejected by the next request             | 3   | test/simulation TestSeeds
//	the authorizer's cache is off by default                    | 3   | test/template TestTemplate
//	seenAt                                                      | 3   | pkg/api/authorizer TestSeenAtIsWrittenOncePerMinute
//	60 seconds exactly                                          | 3   | pkg/api/authorizer TestSeenAtIsWrittenOncePerMinute
//	seenAt cannot be written                                    | 3   | pkg/api/authorizer TestFailedWriteOfSeenAtDoesNotFailTheRequest
//	roles and users are read for each request                   | 3   | test/simulation TestSeeds
//	permissions of each operation                               | 3   | TestSection3Permissions
//	form of a JWT                                               | 3   | pkg/platform/oidc TestIsJWT
//	a JWT is never treated as a PAT                             | 3   | pkg/api/authorizer TestWithoutIssuer
//	8,192 bytes                                                 | 3   | pkg/platform/oidc TestTokens
//	compact form, one spelling of base64url                     | 3   | pkg/platform/oidc TestForm
//	no duplicate members, valid UTF-8                           | 3   | pkg/platform/oidc TestTokens
//	forged and changed signatures                               | 3   | pkg/platform/oidc TestSignatureMustVerify
//	none, HMAC and other algorithms, confused key types         | 3   | pkg/platform/oidc TestTokens
//	jwk, jku, x5u and x5c in the token                          | 3   | pkg/platform/oidc TestKeyMaterialInTheTokenIsIgnored
//	crit and b64                                                | 3   | pkg/platform/oidc TestTokens
//	other kinds of tokens: header                               | 3   | pkg/platform/oidc TestTokens
//	other kinds of tokens: claims                               | 3   | pkg/platform/oidc TestTokens
//	iss                                                         | 3   | pkg/platform/oidc TestTokens
//	aud                                                         | 3   | pkg/platform/oidc TestTokens
//	azp                                                         | 3   | pkg/platform/oidc TestTokens
//	exp with leeway                                             | 3   | pkg/platform/oidc TestTokens
//	nbf and iat with leeway                                     | 3   | pkg/platform/oidc TestTokens
//	times as strings, floats, 1e400, negative                   | 3   | pkg/platform/oidc TestTokens
//	sub                                                         | 3   | pkg/platform/oidc TestTokens
//	email_verified, email and name                              | 3   | pkg/platform/oidc TestClaims
//	weak, private, symmetric keys, keys for other uses, equal IDs| 3   | pkg/platform/oidc TestPublishedKeys
//	the first JWT fetches the keys                              | 3   | pkg/platform/oidc TestSignatureMustVerify
//	a token that cannot be valid fetches nothing                | 3   | pkg/platform/oidc TestTokens
//	2 seconds, slow responses, deadline of the request          | 3   | pkg/platform/oidc TestFetchTakesAtMostTwoSeconds
//	1 MB                                                        | 3   | pkg/platform/oidc TestDocuments
//	compressed documents                                        | 3   | pkg/platform/oidc TestDocuments
//	https, URLs in the discovery document                       | 3   | pkg/platform/oidc TestDocuments
//	redirects                                                   | 3   | pkg/platform/oidc TestDocuments
//	discovery document of another issuer                        | 3   | pkg/platform/oidc TestDocuments
//	malformed documents                                         | 3   | pkg/platform/oidc TestDocuments
//	http:// of loopback addresses                               | 3   | pkg/platform/oidc TestLoopbackIssuer
//	settings of the issuer                                      | 3   | pkg/platform/oidc TestConfiguration
//	refresh after an hour, revoked keys                         | 3   | pkg/platform/oidc TestKeysAreRefreshedInTheBackgroundAfterAnHour
//	keys of a process that was idle                             | 3   | pkg/platform/oidc TestFetches
//	unknown keys: one fetch per 30 seconds, rotation            | 3   | pkg/platform/oidc TestFetches
//	a key that is replaced under its ID                         | 3   | pkg/platform/oidc TestFetches
//	one shared fetch                                            | 3   | pkg/platform/oidc TestFetches
//	unreachable issuer                                          | 3   | pkg/platform/oidc TestFetches
//	issuer that returns                                         | 3   | pkg/platform/oidc TestFetches
//	without an issuer nothing is fetched                        | 3   | pkg/platform/oidc TestWithoutIssuerEveryTokenIsRefused
//	other credentials fetch nothing                             | 3   | pkg/api/authorizer TestCredentials
//	reasons contain no text of the token                        | 3   | pkg/platform/oidc TestTokens
//	log line of a refused JWT                                   | 3   | pkg/api/authorizer TestRefusedJWT
//	claims grant no role                                        | 3   | pkg/api/authorizer TestPersonWithAToken
//	a failure of DynamoDB is not a 401                          | 3   | pkg/api/authorizer TestFailedLookup
//	the person who is linked to an identity                     | 3   | pkg/api/user TestSignInOfLinkedPerson
//	the person with the e-mail address, who is then linked      | 3   | pkg/api/user TestSignIn
//	a new person with the default role; names                   | 3   | pkg/api/user TestSignIn
//	an address does not find a person who has an identity       | 3   | pkg/api/user TestSignIn
//	an address of a disabled person that is not verified        | 3   | pkg/api/user TestSignIn
//	addresses that are equal in upper case only                 | 3   | pkg/api/user TestSignIn
//	an address that is reserved for a missing account           | 3   | pkg/api/user TestSignInWithReservedAddress
//	concurrent first requests                                   | 3   | pkg/api/user TestSignInTwice
//	unique e-mail addresses                                     | 3   | pkg/api/user TestAddRefusesConflicts
//	created, changed and null members                           | 4.1 | pkg/api/feedback TestUpdate
//	userId in the body                                          | 4.1 | pkg/api/feedback TestUpdate
//	one UpdateItem without a read                               | 4.1 | pkg/api/feedback TestUpdate
//	default types and their order                               | 4.2 | pkg/api/featuretype TestList
//	order of creation                                           | 4.2 | pkg/api/featuretype TestList
//	lifetime, 0, null, limits, unknown ID, letter case          | 4.3 | pkg/api/featuretype TestUpdateLifetime
//	the same value starts no re-evaluation                      | 4.3 | pkg/background/staleness TestStream
//	the response does not wait                                  | 4.3 | test/e2e TestCallsOfEachOperation
//	date arithmetic does not overflow                           | 4.3 | pkg/api/feature TestCutoff
//	members, order and usage of context fields                  | 4.4 | pkg/api/contextfield TestUpdate
//	order by code points                                        | 4.4 | pkg/api/contextfield TestList
//	default context fields                                      | 4.4 | pkg/api/contextfield TestList
//	created token and Location                                  | 4.5 | pkg/api/pat TestCreate
//	description, expiry, account, duplicate                     | 4.5 | pkg/api/pat TestCreate
//	all account IDs                                             | 4.5 | pkg/platform/access TestParseIDs
//	limit                                                       | 4.5 | pkg/api/pat TestCreate
//	parameter of the limit                                      | 4.5 | pkg/api/pat TestFunctionsNeedTheirVariables
//	unknown results                                             | 4.5 | pkg/api/pat TestCreateSettles
//	createdAt never falls                                       | 4.5 | pkg/api/pat TestCreatedAtRises
//	highest ID                                                  | 4.5 | pkg/api/pat TestCreateUpToTheHighestID
//	one sequence of IDs                                         | 4.5 | test/simulation TestSeeds
//	concurrent creations and deletions                          | 4.5 | test/simulation TestSeeds
//	creation and deletion are one transaction each              | 4.5 | test/e2e TestCallsOfEachOperation
//	period, month without data                                  | 4.6 | pkg/api/traffic TestGet
//	groups, days and paths                                      | 4.6 | pkg/api/traffic TestGet
//	sorted report, groups without a count                       | 4.6 | pkg/api/traffic TestGet
//	own tokens only, description and limit                      | 4.7 | pkg/api/pat TestTokens
//	life of a service account, as a provider manages it        | 4.8 | test/e2e TestScripts
//	username, name, role                                       | 4.8 | pkg/api/serviceaccount TestCreate
//	members that were not sent, order                          | 4.8 | pkg/api/serviceaccount TestUpdateAndList
//	letter case of usernames                                   | 4.8 | pkg/api/user TestAddRefusesConflicts
//	concurrent creations                                       | 4.8 | test/simulation TestSeeds
//	tokens of a deleted account                                | 4.8 | pkg/api/pat TestInterruptedDeletion
//	interrupted deletion                                       | 4.8 | pkg/api/pat TestInterruptedDeletion
//	parallel deletions                                         | 4.8 | test/simulation TestSeeds
//	unfinished deletions are reported                          | 4.8 | pkg/operator/doctor TestData
//	tokens of a service account: list, get, delete              | 4.9 | pkg/api/pat TestTokens
//	unknown accounts and tokens, and those of others            | 4.9 | pkg/api/pat TestTokens
//	list and creation of own tokens, their limit                | 4.10 | pkg/api/pat TestTokens
//	deleted account of the caller                               | 4.10 | pkg/api/pat TestCreate
//	get, create, replace and delete a context field             | 4.11 | pkg/api/contextfield TestDelete
//	members of the body                                         | 4.11 | pkg/api/contextfield TestBodies
//	default of sortOrder                                        | 4.11 | pkg/api/contextfield TestNextSortOrder
//	what an update keeps                                        | 4.11 | pkg/api/contextfield TestUpdate
//	concurrent creations                                        | 4.11 | test/simulation TestSeeds
//	no toggle is left with a field that is gone                 | 4.11 | pkg/api/contextfield TestDeleteIsOvertaken
//	own account and permissions                                 | 4.12 | pkg/api/user TestGetOwn
//	members, deleted account of the caller                      | 4.12 | pkg/api/user TestGetOwn
//	search of the event log                                     | 4.13 | pkg/api/eventlog TestSearchParameters
//	what a token did                                            | 4.13 | test/e2e TestScripts
//	parameters that cannot be used                              | 4.13 | pkg/api/eventlog TestSearchRefuses
//	terms, words, relevance                                     | 4.15| pkg/api/feature TestRelevance
//	types of events                                             | 4.13 | TestSection413Types
//	members of an event                                         | 4.13 | pkg/api/eventlog TestSearchResponse
//	size of a page                                              | 4.13 | pkg/api/eventlog TestLargePage
//	life of a toggle, its members                               | 4.14| pkg/api/feature TestOperations
//	names, projects, types, bodies                              | 4.14| pkg/api/feature TestRefusals
//	potentiallyStaleAt                                          | 4.14| pkg/api/feature TestCutoff
//	list of a project                                           | 4.14| pkg/api/feature TestList
//	a list above 5 MB                                           | 4.14| pkg/api/feature TestList
//	fifty toggles are marked together                           | 4.14| pkg/api/feature TestUpdateAll
//	all toggles are marked or none                              | 4.14| pkg/api/feature TestUpdateAllOrNone
//	a context field of an archived toggle is gone               | 4.14| pkg/api/feature TestRefusals
//	over HTTP, for each role                                    | 4.14| test/e2e TestScripts
//	filters, order, pages, total; what is read                  | 4.15| pkg/api/feature TestSearch
//	the index is behind                                         | 4.15| pkg/api/feature TestSearchReadsTheTogglesOfTheIndex
//	parameters that cannot be used                              | 4.15| pkg/api/feature TestSearchRefuses
//	terms, words, relevance                                     | 4.15| pkg/api/feature TestRelevance
//	units of a search                                           | 4.15| test/e2e TestCallsOfEachOperation
//	counts of toggles                                           | 4.16| pkg/api/feature TestCount
//	ETag and If-Match of toggles                                | 4.17| pkg/api/feature TestIfMatch
//	ETag and If-Match of context fields                         | 4.17| pkg/api/contextfield TestIfMatch
//	preconditions of every change                               | 4.17| pkg/api/feature TestPreconditions
//	preconditions of feedback                                   | 4.17| pkg/api/feedback TestPreconditions
//	preconditions of service accounts                           | 4.17| pkg/api/serviceaccount TestPreconditions
//	forms of If-Match and If-None-Match                         | 4.17| pkg/platform/lambdahttp TestPreconditions
//	unknown members                                             | 4.17| pkg/platform/jsonbody TestUnknownProperties
//	a misspelled member of a context field                      | 4.17| pkg/api/contextfield TestBodies
//	change of a lifetime, in both directions                    | 5   | pkg/background/staleness TestSweep
//	passing of time                                             | 5   | pkg/api/feature TestCutoff
//	current lifetime, idempotent, continues                     | 5   | test/simulation TestSeeds
//	cost                                                        | 5   | test/e2e TestCallsOfReevaluation
//	writes decide the flag                                      | 5   | pkg/api/feature TestWriteDecidesTheFlag
//	a lifetime that changes during a write                      | 5   | pkg/api/feature TestLifetimeChangesDuringAWrite
//	each request to an operation's resource                     | 6   | test/crash TestTraffic
//	day of the request                                          | 6   | pkg/api/traffic TestLines
//	a batch is counted once                                     | 6   | pkg/api/traffic TestRecord
//	after a crash: answered ≤ counted ≤ sent                    | 6   | test/crash TestTraffic
//	redirects below a stage or a domain                         | 7   | pkg/api/console TestRedirects
//	HEAD                                                        | 7   | pkg/api/console TestHead
//	headers of a page                                           | 7   | pkg/api/console TestPages
//	files, their types and caching                              | 7   | pkg/api/console TestFiles
//	unknown files and spellings                                 | 7   | pkg/api/console TestUnknownFiles
//	other methods                                               | 7   | test/e2e TestScripts
//	the issuer's endpoints, escaped; failure of the issuer      | 7   | pkg/api/console TestIssuer
//	deployment                                                  | 7   | test/template TestTemplate
package contract
