package httpfuzz_test

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"toggleadmin/test/table"
)

// The start and the end of requests.
const (
	end = "\r\n\r\n"
	get = "GET /api/admin/context HTTP/1.1\r\nHost: localhost\r\nAuthorization: {TOKEN}"
	put = "PUT /api/admin/feature-types/release/lifetime HTTP/1.1\r\nHost: localhost\r\nAuthorization: " +
		"{TOKEN}\r\nContent-Type: application/json"
)

// cases returns rows of a name, the bytes of one connection, and the statuses of the responses before it is closed.
func cases(tb testing.TB) [][]string {
	tb.Helper()
	all, many := make([]byte, 256), ""
	for i := range all {
		all[i] = byte(i)
	}
	for i := range 2000 {
		many += fmt.Sprintf("X-%d: y\r\n", i)
	}
	replacer := strings.NewReplacer("{GET}", get, "{PUT}", put, "{END}", end, "{DAYS}", `{"lifetimeDays":40}`,
		"{LINE}", "HTTP/1.1\r\nHost: localhost\r\nAuthorization: {TOKEN}"+end, "{MANY}", many, "{ALL}", string(all))
	repeated := regexp.MustCompile(`(?s)\{([^{}×]+)×(\d+)\}`)
	rows := table.Rows(tb, 3, texts)
	for _, row := range rows {
		for i := range row {
			row[i] = repeated.ReplaceAllStringFunc(replacer.Replace(row[i]), func(text string) string {
				parts := repeated.FindStringSubmatch(text)
				n, _ := strconv.Atoi(parts[2])
				return strings.Repeat(parts[1], n)
			})
		}
		row[2] = strings.TrimSpace(row[2])
	}
	return rows
}

// texts contains the cases. {a×3} stands for aaa.
const texts = `
		no bytes | "" |
		NUL bytes | "{\x00×100}{END}" | 400
		all bytes | "{ALL}{END}" | 400
		TLS | "\x16\x03\x01\x00\xa5\x01\x00\x00\xa1\x03\x03{\x00×100}{END}" | 400
		HTTP/1.0 | "GET /api/admin/context HTTP/1.0\r\nHost: localhost\r\nAuthorization: {TOKEN}{END}" | 200
		HTTP/2.0 | "GET /api/admin/context HTTP/2.0\r\nHost: localhost\r\nAuthorization: {TOKEN}{END}" | 505
		lower case method | "get /api/admin/context {LINE}" | 404
		unknown method | "BREW /api/admin/context {LINE}" | 404
		HEAD | "HEAD /api/admin/context {LINE}" | 404
		TRACE | "TRACE /api/admin/context {LINE}" | 404
		OPTIONS * | "OPTIONS * {LINE}" | 400
		CONNECT with a path | "CONNECT /api/admin/context {LINE}" | 404
		an absolute address | "GET http://localhost:1/api/admin/context {LINE}" | 200
		a fragment | "GET /api/admin/context#x {LINE}" | 404
		a broken escape | "GET /api/admin/%zz {LINE}" | 400
		a NUL in the path | "GET /api/admin/\x00 {LINE}" | 400
		invalid UTF-8 in the path | "GET /api/admin/metrics/traffic/\xff\xfe {LINE}" | 400
		a broken query | "GET /api/admin/context?%zz=%&;&=&&a=%00 {LINE}" | 200
		a long path | "GET /api/admin/metrics/traffic/{a×3000} {LINE}" | 414
		a long query | "GET /api/admin/context?{a×30000} {LINE}" | 200
		request line of 1 MB | "GET /{a×1048576} {LINE}" | 431

		no Host | "GET /api/admin/context HTTP/1.1\r\nAuthorization: {TOKEN}{END}" | 400
		an empty Host | "GET /api/admin/context HTTP/1.1\r\nHost:\r\nAuthorization: {TOKEN}{END}" | 400
		two Hosts | "{GET}\r\nHost: y{END}" | 400
		a Host with a slash | "GET /api/admin/context HTTP/1.1\r\nHost: localhost/y\r\nAuthorization: {TOKEN}{END}" | 400
		a space before the colon | "{GET}\r\nX : y{END}" | 400
		a NUL in a value | "{GET}\r\nX: \x00{END}" | 400
		invalid UTF-8 in a value | "{GET}\r\nX: \xff\xfe{END}" | 200
		a huge header | "{GET}\r\nX: {y×1048576}{END}" | 431
		many headers | "{GET}\r\n{MANY}X: y{END}" | 431
		two credentials | "{GET}\r\nAuthorization: {TOKEN}{END}" | 401
		a credential that is long | "GET /api/admin/context HTTP/1.1\r\nHost: localhost\r\nAuthorization: {a×9000}{END}" | 401
		X-HTTP-Method-Override: DELETE | "{GET}\r\nX-HTTP-Method-Override: DELETE{END}" | 404
		invalid X-HTTP-Method-Override | "{GET}\r\nX-HTTP-Method-Override: \xff /{END}" | 404
		invalid X-Amzn-RequestId | "{GET}\r\nX-Amzn-RequestId: \"$context\"{END}" | 200
		invalid X-Amzn-Trace-Id | "{GET}\r\nX-Amzn-Trace-Id: Root=\xff\"\t{END}" | 200
		X-Forwarded-For | "{GET}\r\nX-Forwarded-For: \xff, $context.authorizer, {1.1.1.1, ×500}{END}" | 200
		an unknown expectation | "{GET}\r\nExpect: coffee{END}" | 417

		a length | "{PUT}\r\nContent-Length: 19{END}{DAYS}" | 200
		too long a length | "{PUT}\r\nContent-Length: 100{END}{DAYS}" | 400
		too short a length | "{PUT}\r\nContent-Length: 10{END}{DAYS}" | 400 400
		a length of 9 GB | "{PUT}\r\nContent-Length: 9000000000{END}{DAYS}" | 413
		a length twice | "{PUT}\r\nContent-Length: 19\r\nContent-Length: 19{END}{DAYS}" | 200
		two lengths | "{PUT}\r\nContent-Length: 19\r\nContent-Length: 18{END}{DAYS}" | 400
		an expectation and no body | "{PUT}\r\nContent-Length: 19\r\nExpect: 100-continue{END}" | 400
		an expectation | "{PUT}\r\nContent-Length: 19\r\nExpect: 100-continue{END}{DAYS}" | 200
		an expectation of too much | "{PUT}\r\nContent-Length: 90000000\r\nExpect: 100-continue{END}" | 413
		an expectation before a refusal | "PUT /api/admin/nothing HTTP/1.1\r\nHost: localhost\r\nContent-Length: 19\r\nExpect: 100-continue{END}" | 400

		one chunk | "{PUT}\r\nTransfer-Encoding: chunked{END}13\r\n{DAYS}\r\n0{END}" | 200
		extensions and trailers | "{PUT}\r\nTransfer-Encoding: chunked{END}13;a=b;c=\"d\"\r\n{DAYS}\r\n0;x\r\nContent-Length: 5\r\nAuthorization: x{END}" | 200
		no last chunk | "{PUT}\r\nTransfer-Encoding: chunked{END}13\r\n{DAYS}\r\n" | 400
		a chunk beyond 64 bits | "{PUT}\r\nTransfer-Encoding: chunked{END}11111111111111113\r\n{DAYS}\r\n0{END}" | 400
		a chunk without its end | "{PUT}\r\nTransfer-Encoding: chunked{END}13\r\n{DAYS}0{END}" | 400
		unknown coding | "{PUT}\r\nTransfer-Encoding: xchunked{END}13\r\n{DAYS}\r\n0{END}" | 501
		chunks in HTTP/1.0 | "PUT /api/admin/feature-types/release/lifetime HTTP/1.0\r\nHost: localhost\r\nAuthorization: {TOKEN}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked{END}13\r\n{DAYS}\r\n0{END}" | 400
		# With both lengths, net/http uses the chunks and treats the bytes after them as the next request. No proxy in front
		# of this server could have treated them as a part of the body.
		a length and chunks | "{PUT}\r\nContent-Length: 3\r\nTransfer-Encoding: chunked{END}13\r\n{DAYS}\r\n0{END}{GET}{END}" | 200 200
		chunks and a length | "{PUT}\r\nTransfer-Encoding: chunked\r\nContent-Length: 29{END}13\r\n{DAYS}\r\n0{END}{GET}{END}" | 200 200
		a smuggled request | "{PUT}\r\nContent-Length: 60\r\nTransfer-Encoding: chunked{END}0{END}{GET}{END}" | 400 200

		an empty body | "{PUT}\r\nContent-Length: 0{END}" | 400
		invalid UTF-8 in a body | "{PUT}\r\nContent-Length: 29{END}{\"lifetimeDays\":1,\"x\":\"\xff\xfe\xc0\x80\"}" | 200
		a byte-order mark | "{PUT}\r\nContent-Length: 22{END}\ufeff{DAYS}" | 400
		deep nesting | "{PUT}\r\nContent-Length: 50000{END}{[×50000}" | 400
		a long number | "{PUT}\r\nContent-Length: 90017{END}{\"lifetimeDays\":{9×90000}}" | 400
		a number with a huge exponent | "{PUT}\r\nContent-Length: 28{END}{\"lifetimeDays\":1e999999999}" | 400
		100 KB | "{PUT}\r\nContent-Length: 102400{END}{DAYS}{ ×102381}" | 200
		one byte above 100 KB | "{PUT}\r\nContent-Length: 102401{END}{DAYS}{ ×102382}" | 413
		6 MB after JSON encoding | "{PUT}\r\nContent-Length: 2097152{END}{\x01×2097152}" | 413
		11 MB | "{PUT}\r\nContent-Length: 11534336{END}{ ×11534336}" | 413

		a hundred at once | "{GET /x HTTP/1.1\r\nHost: localhost{END}×100}" | {404 ×100}
		the second is broken | "{GET}{END}nonsense{END}{GET}{END}" | 200 400
		the first says close | "{GET}\r\nConnection: close{END}{GET}{END}" | 200
		a body that nobody reads | "DELETE /api/admin/user/tokens/0 HTTP/1.1\r\nHost: localhost\r\nAuthorization: {TOKEN}\r\nContent-Length: 5{END}abcde{GET}{END}" | 404 200
		HEAD first | "HEAD /api/admin/context HTTP/1.1\r\nHost: localhost{END}{GET}{END}" | 404 200
		half a request last | "{GET}{END}{GET}" | 200 400
`
