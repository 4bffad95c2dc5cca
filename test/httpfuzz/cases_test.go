package httpfuzz_test

import (
	"fmt"
	"slices"
	"strings"
)

// The start and the end of requests.
const (
	end = "\r\n\r\n"
	get = "GET /api/admin/context HTTP/1.1\r\nHost: localhost\r\nAuthorization: {TOKEN}"
	put = "PUT /api/admin/feature-types/release/lifetime HTTP/1.1\r\nHost: localhost\r\nAuthorization: " +
		"{TOKEN}\r\nContent-Type: application/json"
	days = `{"lifetimeDays":40}` // 19 bytes
)

// cases are the bytes of one connection, and the statuses of the responses before it is closed.
var cases = slices.Concat(requestLines(), headers(), lengths(), chunks(), bodies(), sequences())

type fuzzCase struct {
	name string
	sent string
	want []int
}

func requestLines() []fuzzCase {
	line := func(line string) string { return line + "\r\nHost: localhost\r\nAuthorization: {TOKEN}" + end }
	return []fuzzCase{
		{"no bytes", "", []int{}},
		{"NUL bytes", strings.Repeat("\x00", 100) + end, []int{400}},
		{"all bytes", allBytes() + end, []int{400}},
		{"TLS", "\x16\x03\x01\x00\xa5\x01\x00\x00\xa1\x03\x03" + strings.Repeat("\x00", 100) + end, []int{400}},
		{"HTTP/1.0", "GET /api/admin/context HTTP/1.0\r\nAuthorization: {TOKEN}" + end, []int{200}},
		{"HTTP/2.0", line("GET /api/admin/context HTTP/2.0"), []int{505}},
		{"lower case method", line("get /api/admin/context HTTP/1.1"), []int{404}},
		{"unknown method", line("BREW /api/admin/context HTTP/1.1"), []int{404}},
		{"HEAD", line("HEAD /api/admin/context HTTP/1.1"), []int{404}},
		{"TRACE", line("TRACE /api/admin/context HTTP/1.1"), []int{404}},
		{"OPTIONS *", line("OPTIONS * HTTP/1.1"), []int{400}},
		{"CONNECT with a path", line("CONNECT /api/admin/context HTTP/1.1"), []int{404}},
		{"an absolute address", line("GET http://localhost:1/api/admin/context HTTP/1.1"), []int{200}},
		{"a fragment", line("GET /api/admin/context#x HTTP/1.1"), []int{404}},
		{"a broken escape", line("GET /api/admin/%zz HTTP/1.1"), []int{400}},
		{"a NUL in the path", line("GET /api/admin/\x00 HTTP/1.1"), []int{400}},
		{"invalid UTF-8 in the path", line("GET /api/admin/metrics/traffic/\xff\xfe HTTP/1.1"), []int{400}},
		{"a broken query", line("GET /api/admin/context?%zz=%&;&=&&a=%00 HTTP/1.1"), []int{200}},
		{"a long path", line("GET /api/admin/metrics/traffic/" + strings.Repeat("a", 3000) + " HTTP/1.1"), []int{414}},
		{"a long query", line("GET /api/admin/context?" + strings.Repeat("a", 30_000) + " HTTP/1.1"), []int{200}},
		{"request line of 1 MB", line("GET /" + strings.Repeat("a", 1<<20) + " HTTP/1.1"), []int{431}},
	}
}

func headers() []fuzzCase {
	with := func(more string) string { return get + "\r\n" + more + end }
	many := ""
	for i := range 2000 {
		many += fmt.Sprintf("X-%d: y\r\n", i)
	}
	return []fuzzCase{
		{"no Host", strings.Replace(get, "Host: localhost\r\n", "", 1) + end, []int{400}},
		{"an empty Host", strings.Replace(get, "Host: localhost", "Host:", 1) + end, []int{200}},
		{"two Hosts", with("Host: y"), []int{400}},
		{"a Host with a slash", strings.Replace(get, "Host: localhost", "Host: localhost/y", 1) + end, []int{400}},
		{"a space before the colon", with("X : y"), []int{400}},
		{"a NUL in a value", with("X: \x00"), []int{400}},
		{"invalid UTF-8 in a value", with("X: \xff\xfe"), []int{200}},
		{"a huge header", with("X: " + strings.Repeat("y", 1<<20)), []int{431}},
		{"many headers", with(many + "X: y"), []int{431}},
		{"two credentials", with("Authorization: {TOKEN}"), []int{401}},
		{"a credential that is long", "GET /api/admin/context HTTP/1.1\r\nHost: localhost\r\nAuthorization: " +
			strings.Repeat("a", 9000) + end, []int{401}},
		{"X-HTTP-Method-Override: DELETE", with("X-HTTP-Method-Override: DELETE"), []int{404}},
		{"invalid X-HTTP-Method-Override", with("X-HTTP-Method-Override: \xff /"), []int{404}},
		{"invalid X-Amzn-RequestId", with("X-Amzn-RequestId: \"$context\""), []int{200}},
		{"invalid X-Amzn-Trace-Id", with("X-Amzn-Trace-Id: Root=\xff\"\t"), []int{200}},
		{"X-Forwarded-For", with("X-Forwarded-For: \xff, $context.authorizer, " + strings.Repeat("1.1.1.1, ", 500)),
			[]int{200}},
		{"an unknown expectation", with("Expect: coffee"), []int{417}},
	}
}

func lengths() []fuzzCase {
	with := func(length, body string) string { return put + "\r\n" + length + end + body }
	return []fuzzCase{
		{"a length", with("Content-Length: 19", days), []int{200}},
		{"too long a length", with("Content-Length: 100", days), []int{400}},
		{"too short a length", with("Content-Length: 10", days), []int{400, 400}},
		{"a length of 9 GB", with("Content-Length: 9000000000", days), []int{413}},
		{"a length twice", with("Content-Length: 19\r\nContent-Length: 19", days), []int{200}},
		{"two lengths", with("Content-Length: 19\r\nContent-Length: 18", days), []int{400}},
		{"an expectation and no body", with("Content-Length: 19\r\nExpect: 100-continue", ""), []int{400}},
		{"an expectation", with("Content-Length: 19\r\nExpect: 100-continue", days), []int{200}},
		{"an expectation of too much", with("Content-Length: 90000000\r\nExpect: 100-continue", ""), []int{413}},
		{"an expectation before a refusal",
			"PUT /api/admin/nothing HTTP/1.1\r\nHost: localhost\r\nContent-Length: 19\r\nExpect: 100-continue" + end,
			[]int{400}},
	}
}

func chunks() []fuzzCase {
	with := func(coding, body string) string { return put + "\r\nTransfer-Encoding: " + coding + end + body }
	const whole = "13\r\n" + days + "\r\n0\r\n\r\n"
	return []fuzzCase{
		{"one chunk", with("chunked", whole), []int{200}},
		{"extensions and trailers",
			with("chunked", "13;a=b;c=\"d\"\r\n"+days+"\r\n0;x\r\nContent-Length: 5\r\nAuthorization: x\r\n\r\n"), []int{200}},
		{"no last chunk", with("chunked", "13\r\n"+days+"\r\n"), []int{400}},
		{"a chunk beyond 64 bits", with("chunked", "11111111111111113\r\n"+days+"\r\n0\r\n\r\n"), []int{400}},
		{"a chunk without its end", with("chunked", "13\r\n"+days+"0\r\n\r\n"), []int{400}},
		{"unknown coding", with("xchunked", whole), []int{501}},
		{"chunks in HTTP/1.0", strings.Replace(with("chunked", whole), "HTTP/1.1", "HTTP/1.0", 1), []int{400}},
		// With both lengths, net/http uses the chunks and treats the bytes after them as the next request. No proxy in front
		// of this server could have treated them as a part of the body.
		{"a length and chunks", put + "\r\nContent-Length: 3\r\nTransfer-Encoding: chunked" + end + whole + get + end,
			[]int{200, 200}},
		{"chunks and a length", put + "\r\nTransfer-Encoding: chunked\r\nContent-Length: 29" + end + whole + get + end,
			[]int{200, 200}},
		{"a smuggled request", put + "\r\nContent-Length: 60\r\nTransfer-Encoding: chunked" + end + "0\r\n\r\n" + get + end,
			[]int{400, 200}},
	}
}

func bodies() []fuzzCase {
	with := func(body string) string { return put + fmt.Sprintf("\r\nContent-Length: %d", len(body)) + end + body }
	return []fuzzCase{
		{"an empty body", with(""), []int{400}},
		{"invalid UTF-8 in a body", with("{\"lifetimeDays\":1,\"x\":\"\xff\xfe\xc0\x80\"}"), []int{200}},
		{"a byte-order mark", with("\xef\xbb\xbf" + days), []int{400}},
		{"deep nesting", with(strings.Repeat("[", 50_000)), []int{400}},
		{"a long number", with("{\"lifetimeDays\":" + strings.Repeat("9", 90_000) + "}"), []int{400}},
		{"a number with a huge exponent", with(`{"lifetimeDays":1e999999999}`), []int{400}},
		{"100 KB", with(days + strings.Repeat(" ", 102_400-len(days))), []int{200}},
		{"one byte above 100 KB", with(days + strings.Repeat(" ", 102_401-len(days))), []int{413}},
		{"6 MB after JSON encoding", with(strings.Repeat("\x01", 2<<20)), []int{413}},
		{"11 MB", with(strings.Repeat(" ", 11<<20)), []int{413}},
	}
}

func sequences() []fuzzCase {
	return []fuzzCase{
		{"a hundred at once", strings.Repeat("GET /x HTTP/1.1\r\nHost: localhost"+end, 100), slices.Repeat([]int{404}, 100)},
		{"the second is broken", get + end + "nonsense" + end + get + end, []int{200, 400}},
		{"the first says close", get + "\r\nConnection: close" + end + get + end, []int{200}},
		{"a body that nobody reads",
			"DELETE /api/admin/user/tokens/0 HTTP/1.1\r\nHost: localhost\r\nAuthorization: {TOKEN}\r\nContent-Length: 5" +
				end + "abcde" + get + end, []int{404, 200}},
		{"HEAD first", "HEAD /api/admin/context HTTP/1.1\r\nHost: localhost" + end + get + end, []int{404, 200}},
		{"half a request last", get + end + get, []int{200, 400}},
	}
}

func allBytes() string {
	b := make([]byte, 256)
	for i := range b {
		b[i] = byte(i)
	}
	return string(b)
}
