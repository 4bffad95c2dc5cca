package anybytes_test

import (
	"fmt"
	"strings"
)

// Beginnings and the end of a request.
const (
	end  = "\r\n\r\n"
	get  = "GET /api/admin/context HTTP/1.1\r\nHost: x\r\nAuthorization: {TOKEN}"
	put  = "PUT /api/admin/feature-types/release/lifetime HTTP/1.1\r\nHost: x\r\nAuthorization: {TOKEN}\r\nContent-Type: application/json"
	days = `{"lifetimeDays":40}` // 19 bytes
)

type aCase struct {
	name string
	sent string
	want []int // the status of each answer; afterwards the connection is closed
}

func cases() []aCase {
	var all []aCase
	for _, some := range [][]aCase{requestLines(), headers(), lengths(), chunks(), bodies(), sequences()} {
		all = append(all, some...)
	}
	return all
}

func requestLines() []aCase {
	line := func(line string) string { return line + "\r\nHost: x\r\nAuthorization: {TOKEN}" + end }
	return []aCase{
		{"nothing", "", []int{}},
		{"a line's end", "\r\n", []int{400}},
		{"half a word", "GE", []int{400}},
		{"NUL bytes", strings.Repeat("\x00", 100) + end, []int{400}},
		{"all bytes", allBytes() + end, []int{400}},
		{"TLS", "\x16\x03\x01\x00\xa5\x01\x00\x00\xa1\x03\x03" + strings.Repeat("\x00", 100) + end, []int{400}},
		{"SSH", "SSH-2.0-OpenSSH_9.6\r\n", []int{400}},
		{"SOCKS", "\x05\x01\x00\r\n", []int{400}},
		{"JSON", days + "\r\n", []int{400}},
		{"HTTP/0.9", "GET /api/admin/context\r\n\r\n", []int{400}},
		{"HTTP/1.0", "GET /api/admin/context HTTP/1.0\r\nAuthorization: {TOKEN}" + end, []int{200}},
		{"HTTP/1.0 without a credential", "GET /api/admin/context HTTP/1.0" + end, []int{401}},
		{"HTTP/1.0, kept alive", strings.Repeat("GET /api/admin/context HTTP/1.0\r\nConnection: keep-alive\r\nAuthorization: {TOKEN}"+end, 2), []int{200, 200}},
		{"HTTP/1.9", line("GET /api/admin/context HTTP/1.9"), []int{200}},
		{"HTTP/2's beginning", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", []int{400}},
		{"HTTP/2.0", line("GET /api/admin/context HTTP/2.0"), []int{400}},
		{"HTTP/3.0", line("GET /api/admin/context HTTP/3.0"), []int{400}},
		{"HTTP/0.1", line("GET /api/admin/context HTTP/0.1"), []int{400}},
		{"HTTP/1.", line("GET /api/admin/context HTTP/1."), []int{400}},
		{"HTTP/99999999999.1", line("GET /api/admin/context HTTP/99999999999.1"), []int{400}},
		{"two spaces", line("GET  /api/admin/context HTTP/1.1"), []int{400}},
		{"a tab", line("GET\t/api/admin/context HTTP/1.1"), []int{400}},
		{"four words", line("GET /api/admin /context HTTP/1.1"), []int{400}},
		{"line feeds alone", strings.ReplaceAll(get+end, "\r\n", "\n"), []int{200}},
		{"carriage returns alone", strings.ReplaceAll(get+end, "\r\n", "\r"), []int{400}},
		{"lower case method", line("get /api/admin/context HTTP/1.1"), []int{404}},
		{"a method of our own", line("BREW /api/admin/context HTTP/1.1"), []int{404}},
		{"a long method", line(strings.Repeat("A", 2000) + " /api/admin/context HTTP/1.1"), []int{404}},
		{"a method with a slash", line("GET/ /api/admin/context HTTP/1.1"), []int{400}},
		{"HEAD", line("HEAD /api/admin/context HTTP/1.1"), []int{404}},
		{"TRACE", line("TRACE /api/admin/context HTTP/1.1"), []int{404}},
		{"OPTIONS *", line("OPTIONS * HTTP/1.1"), []int{400}},
		{"CONNECT", line("CONNECT x:443 HTTP/1.1"), []int{400}},
		{"CONNECT with a path", line("CONNECT /api/admin/context HTTP/1.1"), []int{404}},
		{"an absolute address", line("GET http://other:1/api/admin/context HTTP/1.1"), []int{200}},
		{"an absolute address of another kind", line("GET ftp://other/api/admin/context HTTP/1.1"), []int{200}},
		{"an absolute address without a path", line("GET http://other HTTP/1.1"), []int{404}},
		{"an absolute address with a query alone", line("GET http://other?x HTTP/1.1"), []int{404}},
		{"an absolute address with a user", line("GET http://a:b@other/api/admin/context HTTP/1.1"), []int{200}},
		{"an authority", line("GET other:80 HTTP/1.1"), []int{400}},
		{"two slashes", line("GET //api/admin/context HTTP/1.1"), []int{404}},
		{"dots", line("GET /api/../api/admin/./context HTTP/1.1"), []int{404}},
		{"backslashes", line(`GET \api\admin\context HTTP/1.1`), []int{400}},
		{"a fragment", line("GET /api/admin/context#x HTTP/1.1"), []int{404}},
		{"a broken escape", line("GET /api/admin/%zz HTTP/1.1"), []int{400}},
		{"half an escape", line("GET /api/admin/% HTTP/1.1"), []int{400}},
		{"a NUL in the path", line("GET /api/admin/\x00 HTTP/1.1"), []int{400}},
		{"an escaped NUL in the path", line("GET /api/admin/metrics/traffic/%00 HTTP/1.1"), []int{400}},
		{"no UTF-8 in the path", line("GET /api/admin/metrics/traffic/\xff\xfe HTTP/1.1"), []int{400}},
		{"escaped lines in the path", line("GET /api/admin/metrics/traffic/%0d%0aX:%20y HTTP/1.1"), []int{400}},
		{"a broken query", line("GET /api/admin/context?%zz=%&;&=&&a=%00 HTTP/1.1"), []int{200}},
		{"a long path", line("GET /api/admin/metrics/traffic/" + strings.Repeat("a", 3000) + " HTTP/1.1"), []int{414}},
		{"a long query", line("GET /api/admin/context?" + strings.Repeat("a", 30_000) + " HTTP/1.1"), []int{200}},
		{"a far too long line", line("GET /" + strings.Repeat("a", 1<<20) + " HTTP/1.1"), []int{431}},
		{"a thousand segments", line("GET " + strings.Repeat("/a", 1000) + " HTTP/1.1"), []int{404}},
	}
}

func headers() []aCase {
	with := func(more string) string { return get + "\r\n" + more + end }
	many := ""
	for i := range 2000 {
		many += fmt.Sprintf("X-%d: y\r\n", i)
	}
	return []aCase{
		{"no Host", strings.Replace(get, "Host: x\r\n", "", 1) + end, []int{400}},
		{"an empty Host", strings.Replace(get, "Host: x", "Host:", 1) + end, []int{200}},
		{"two Hosts", with("Host: y"), []int{400}},
		{"a Host with a space", strings.Replace(get, "Host: x", "Host: x y", 1) + end, []int{400}},
		{"a Host with a NUL", strings.Replace(get, "Host: x", "Host: x\x00", 1) + end, []int{400}},
		{"a Host with a slash", strings.Replace(get, "Host: x", "Host: x/y", 1) + end, []int{400}},
		{"no colon", with("Nonsense"), []int{400}},
		{"no name", with(": x"), []int{400}},
		{"a space before the colon", with("X : y"), []int{400}},
		{"a folded line", with("X: y\r\n z"), []int{200}},
		{"a folded first line", "GET /api/admin/context HTTP/1.1\r\n Host: x" + end, []int{400}},
		{"a NUL in a name", with("X\x00: y"), []int{400}},
		{"a NUL in a value", with("X: \x00"), []int{400}},
		{"a carriage return in a value", with("X: a\rb"), []int{400}},
		{"no UTF-8 in a value", with("X: \xff\xfe"), []int{200}},
		{"no UTF-8 in a name", with("X\xff: y"), []int{400}},
		{"a large header", with("X: " + strings.Repeat("y", 11_000)), []int{431}},
		{"a huge header", with("X: " + strings.Repeat("y", 1<<20)), []int{431}},
		{"a header without end", get + "\r\nX: " + strings.Repeat("y", 1<<18), []int{431}},
		{"many headers", with(many + "X: y"), []int{431}},
		{"two credentials", with("Authorization: {TOKEN}"), []int{401}},
		{"a credential that is long", "GET /api/admin/context HTTP/1.1\r\nHost: x\r\nAuthorization: " + strings.Repeat("a", 9000) + end, []int{401}},
		{"a credential that is no UTF-8", "GET /api/admin/context HTTP/1.1\r\nHost: x\r\nAuthorization: user:v2_\xff\xfe" + end, []int{401}},
		{"a credential on two lines", "GET /api/admin/context HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer\r\n {TOKEN}" + end, []int{200}},
		{"a credential named in Connection", with("Connection: Authorization"), []int{200}},
		{"an upgrade to WebSocket", with("Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: x\r\nSec-WebSocket-Version: 13"), []int{200}},
		{"an upgrade to HTTP/2", with("Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__"), []int{200}},
		{"another method by a header", with("X-HTTP-Method-Override: DELETE"), []int{404}},
		{"HEAD by a header", with("X-HTTP-Method-Override: HEAD"), []int{404}},
		{"nonsense for a method by a header", with("X-HTTP-Method-Override: \xff /"), []int{404}},
		{"a request id of its own", with("X-Amzn-RequestId: \"$context\""), []int{200}},
		{"a trace id of its own", with("X-Amzn-Trace-Id: Root=\xff\"\t"), []int{200}},
		{"a forwarded address", with("X-Forwarded-For: \xff, $context.authorizer, " + strings.Repeat("1.1.1.1, ", 500)), []int{200}},
		{"an unknown expectation", with("Expect: coffee"), []int{417}},
		{"an unknown content coding", with("Content-Encoding: br\r\nAccept-Encoding: \xff\r\nAccept: nothing/at-all"), []int{200}},
	}
}

func lengths() []aCase {
	with := func(length, body string) string { return put + "\r\n" + length + end + body }
	return []aCase{
		{"no length", put + end + days, []int{400, 400}},
		{"a length", with("Content-Length: 19", days), []int{200}},
		{"a length on GET", get + "\r\nContent-Length: 19" + end + days, []int{200}},
		{"too long a length", with("Content-Length: 100", days), []int{400}},
		{"too short a length", with("Content-Length: 10", days), []int{400, 400}},
		{"a negative length", with("Content-Length: -1", days), []int{400}},
		{"a length with a sign", with("Content-Length: +19", days), []int{400}},
		{"a hexadecimal length", with("Content-Length: 0x13", days), []int{400}},
		{"a broken length", with("Content-Length: 1.9e1", days), []int{400}},
		{"an empty length", with("Content-Length: ", days), []int{400}},
		{"a length beyond 64 bits", with("Content-Length: 99999999999999999999999", days), []int{400}},
		{"a length of 9 GB", with("Content-Length: 9000000000", days), []int{413}},
		{"a length twice", with("Content-Length: 19\r\nContent-Length: 19", days), []int{200}},
		{"two lengths", with("Content-Length: 19\r\nContent-Length: 18", days), []int{400}},
		{"a list of lengths", with("Content-Length: 19, 19", days), []int{400}},
		{"an expectation and no body", with("Content-Length: 19\r\nExpect: 100-continue", ""), []int{400}},
		{"an expectation", with("Content-Length: 19\r\nExpect: 100-continue", days), []int{200}},
		{"an expectation of too much", with("Content-Length: 90000000\r\nExpect: 100-continue", ""), []int{413}},
		{"an expectation before a refusal", "PUT /api/admin/nothing HTTP/1.1\r\nHost: x\r\nContent-Length: 19\r\nExpect: 100-continue" + end, []int{400}},
	}
}

func chunks() []aCase {
	with := func(coding, body string) string { return put + "\r\nTransfer-Encoding: " + coding + end + body }
	const whole = "13\r\n" + days + "\r\n0\r\n\r\n"
	return []aCase{
		{"one chunk", with("chunked", whole), []int{200}},
		{"a coding in capitals", with("CHUNKED", whole), []int{200}},
		{"many chunks", with("chunked", "1\r\n{\r\n12\r\n"+days[1:]+"\r\n0\r\n\r\n"), []int{200}},
		{"extensions and trailers", with("chunked", "13;a=b;c=\"d\"\r\n"+days+"\r\n0;x\r\nContent-Length: 5\r\nAuthorization: x\r\n\r\n"), []int{200}},
		{"no last chunk", with("chunked", "13\r\n"+days+"\r\n"), []int{400}},
		{"half a chunk", with("chunked", "13\r\n"+days[:5]), []int{400}},
		{"garbage for a chunk", with("chunked", "zz\r\n"+days+"\r\n0\r\n\r\n"), []int{400}},
		{"a negative chunk", with("chunked", "-13\r\n"+days+"\r\n0\r\n\r\n"), []int{400}},
		{"a chunk beyond 64 bits", with("chunked", "11111111111111113\r\n"+days+"\r\n0\r\n\r\n"), []int{400}},
		{"a chunk of 16 EB", with("chunked", "ffffffffffffffff\r\n"+days), []int{400}},
		{"a chunk with a long line", with("chunked", "13;"+strings.Repeat("x", 10_000)+"\r\n"+days+"\r\n0\r\n\r\n"), []int{400}},
		{"a thousand tiny chunks", with("chunked", "13\r\n"+days+"\r\n"+strings.Repeat("1\r\n \r\n", 1000)+"0\r\n\r\n"), []int{200}},
		{"a chunk without its end", with("chunked", "13\r\n"+days+"0\r\n\r\n"), []int{400}},
		{"a coding that is none", with("xchunked", whole), []int{400}},
		{"identity", with("identity", days), []int{400}},
		{"gzip", with("gzip, chunked", whole), []int{400}},
		{"chunked twice", with("chunked, chunked", whole), []int{400}},
		{"two codings", with("chunked\r\nTransfer-Encoding: identity", whole), []int{400}},
		{"a coding after a vertical tab", with("\vchunked", whole), []int{400}},
		{"chunks in HTTP/1.0", strings.Replace(with("chunked", whole), "HTTP/1.1", "HTTP/1.0", 1), []int{400}},
		// Both lengths: the chunks count and the length is forgotten. What is behind them is the next request, as everybody can send one:
		// no server stands in front of this one that could have taken it for a part of the body. (RFC 9112 would close the connection.)
		{"a length and chunks", put + "\r\nContent-Length: 3\r\nTransfer-Encoding: chunked" + end + whole + get + end, []int{200, 200}},
		{"chunks and a length", put + "\r\nTransfer-Encoding: chunked\r\nContent-Length: 29" + end + whole + get + end, []int{200, 200}},
		{"a smuggled request", put + "\r\nContent-Length: 60\r\nTransfer-Encoding: chunked" + end + "0\r\n\r\n" + get + end, []int{400, 200}},
		{"a smuggled request with another coding", put + "\r\nContent-Length: 60\r\nTransfer-Encoding: xchunked" + end + "0\r\n\r\n" + get + end, []int{400}},
		{"a smuggled request with a space", put + "\r\nContent-Length: 60\r\nTransfer-Encoding : chunked" + end + "0\r\n\r\n" + get + end, []int{400}},
	}
}

func bodies() []aCase {
	with := func(body string) string { return put + fmt.Sprintf("\r\nContent-Length: %d", len(body)) + end + body }
	return []aCase{
		{"an empty body", with(""), []int{400}},
		{"a NUL for a body", with("\x00"), []int{400}},
		{"all bytes for a body", with(allBytes()), []int{400}},
		{"no UTF-8 in a body", with("{\"lifetimeDays\":1,\"x\":\"\xff\xfe\xc0\x80\"}"), []int{200}},
		{"a byte-order mark", with("\xef\xbb\xbf" + days), []int{400}},
		{"UTF-16", with("{\x00}\x00"), []int{400}},
		{"deep nesting", with(strings.Repeat("[", 50_000)), []int{400}},
		{"deep nesting, closed", with(strings.Repeat("{\"a\":", 10_000) + "1" + strings.Repeat("}", 10_000)), []int{400}},
		{"a long number", with("{\"lifetimeDays\":" + strings.Repeat("9", 90_000) + "}"), []int{400}},
		{"a number with a huge exponent", with(`{"lifetimeDays":1e999999999}`), []int{400}},
		{"a number with a tiny exponent", with(`{"lifetimeDays":1e-999999999}`), []int{400}},
		{"ten thousand members", with("{" + strings.Repeat(`"":1,`, 10_000) + `"a":1}`), []int{400}},
		{"100 KB", with(days + strings.Repeat(" ", 102_400-len(days))), []int{200}},
		{"one more", with(days + strings.Repeat(" ", 102_401-len(days))), []int{413}},
		{"6 MB of what an event writes longer", with(strings.Repeat("\x01", 2<<20)), []int{413}},
		{"11 MB", with(strings.Repeat(" ", 11<<20)), []int{413}},
		{"gzip for a body", with("\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\xab\xae\x05\x00\x43\xbf\xa6\xa3\x02\x00\x00\x00"), []int{400}},
	}
}

func sequences() []aCase {
	return []aCase{
		{"three at once", strings.Repeat(get+end, 3), []int{200, 200, 200}},
		{"a hundred at once", strings.Repeat("GET / HTTP/1.1\r\nHost: x"+end, 100), repeated(404, 100)},
		{"empty lines between", get + end + "\r\n\r\n" + get + end, []int{200, 400}},
		{"the second is broken", get + end + "nonsense" + end + get + end, []int{200, 400}},
		{"the first says close", get + "\r\nConnection: close" + end + get + end, []int{200}},
		{"a body that nobody reads", "DELETE /api/admin/user/tokens/0 HTTP/1.1\r\nHost: x\r\nAuthorization: {TOKEN}\r\nContent-Length: 5" +
			end + "abcde" + get + end, []int{404, 200}},
		{"HEAD first", "HEAD /api/admin/context HTTP/1.1\r\nHost: x" + end + get + end, []int{404, 200}},
		{"half a request last", get + end + get, []int{200, 400}},
	}
}

func repeated(status, n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = status
	}
	return all
}

func allBytes() string {
	b := make([]byte, 256)
	for i := range b {
		b[i] = byte(i)
	}
	return string(b)
}
