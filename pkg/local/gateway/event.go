package gateway

import (
	"cmp"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// pair is one member of the query, decoded.
type pair struct{ name, value string }

// encodeShared writes what the authorizer's event and the function's have in common:
//
//	"resource":…,"path":…,"httpMethod":…,"headers":…,"multiValueHeaders":…       up to split
//	,"queryStringParameters":…,…,"stageVariables":null,                          up to context
//	"requestContext":{…                                                         without its closing brace
func (x *exchange) encodeShared() {
	b := append(x.buffers.shared[:0], x.resource.event...)
	b = appendString(append(b, `,"path":`...), x.path)
	b = appendString(append(b, `,"httpMethod":`...), x.method)
	b = x.appendHeaders(b)
	x.buffers.split = len(b)
	b = x.appendQuery(append(b, ','), "null")
	b = x.appendPathParameters(b, "null")
	b = append(b, `"stageVariables":null,`...)
	x.buffers.context = len(b)
	x.buffers.shared = x.appendContext(b)
}

// encodeProxyEvent writes the function's event into the buffers' event [seen: hotsock/voker apigwv1-request.json].
func (x *exchange) encodeProxyEvent(body []byte) []byte {
	b := append(x.buffers.event[:0], '{')
	b = append(b, x.buffers.shared...)
	b = append(b, `,"authorizer":`...)
	if x.authorized == nil {
		b = append(b, "null"...)
	} else {
		b = x.authorized.append(b, x.authorizerLatency)
	}
	b = append(b, `},"body":`...)
	if len(body) == 0 {
		b = append(b, "null"...)
	} else {
		b = appendString(b, body)
	}
	x.buffers.event = append(b, `,"isBase64Encoded":false}`...)
	return x.buffers.event
}

// encodeAuthorizerEvent writes the authorizer's event into the buffers' event. Where the function's has null, it has {} [seen].
func (x *exchange) encodeAuthorizerEvent(methodARN string) []byte {
	b := appendString(append(x.buffers.event[:0], `{"type":"REQUEST","methodArn":`...), methodARN)
	b = append(append(b, ','), x.buffers.shared[:x.buffers.split]...)
	if x.query == "" && len(x.params) == 0 {
		b = append(b, `,"queryStringParameters":{},"multiValueQueryStringParameters":{},"pathParameters":{},"stageVariables":{},`...)
	} else {
		b = x.appendQuery(append(b, ','), "{}")
		b = x.appendPathParameters(b, "{}")
		b = append(b, `"stageVariables":{},`...)
	}
	b = append(b, x.buffers.shared[x.buffers.context:]...)
	x.buffers.event = append(b, `}}`...)
	return x.buffers.event
}

// appendHeaders appends headers, with each name's last value, and multiValueHeaders.
func (x *exchange) appendHeaders(b []byte) []byte {
	multi := append(x.buffers.scratch[:0], `},"multiValueHeaders":{`...)
	b = append(b, `,"headers":{`...)
	add := func(name string, values ...string) {
		b = append(appendString(b, name), ':')
		multi = append(appendString(multi, name), ':', '[')
		for _, v := range values[:len(values)-1] {
			multi = append(appendString(multi, v), ',')
		}
		start := len(b)
		b = appendString(b, values[len(values)-1])
		multi = append(append(multi, b[start:]...), ']', ',')
		b = append(b, ',')
	}
	for name, values := range x.r.Header {
		if len(values) > 0 && !droppedFromRequest(name) {
			add(name, values...)
		}
	}
	forwarded := x.sourceIP
	if sent := x.r.Header["X-Forwarded-For"]; len(sent) > 0 {
		forwarded = strings.Join(sent, ", ") + ", " + x.sourceIP
	}
	proto, port := "http", "80"
	if x.r.TLS != nil {
		proto, port = "https", "443"
	}
	if i := strings.LastIndexByte(x.host, ':'); i >= 0 && !strings.HasSuffix(x.host, "]") {
		port = x.host[i+1:]
	}
	add("Host", x.host)
	add("X-Forwarded-For", forwarded)
	add("X-Forwarded-Port", port)
	add("X-Forwarded-Proto", proto)
	add("X-Amzn-Trace-Id", x.trace)
	multi[len(multi)-1] = '}'
	x.buffers.scratch = multi
	return append(b[:len(b)-1], multi...)
}

// droppedFromRequest tells the headers that do not reach a function, by their canonical names, or that the gateway writes itself
// [APIGW/api-gateway-known-issues, the table of headers, Lambda column; Content-Length: seen].
func droppedFromRequest(name string) bool {
	switch name {
	case "Connection", "Content-Length", "Content-Md5", "Expect", "Keep-Alive", "Max-Forwards", "Proxy-Authenticate",
		"Proxy-Connection", "Server", "Te", "Trailer", "Transfer-Encoding", "Upgrade", "Www-Authenticate",
		"Host", "X-Forwarded-For", "X-Forwarded-Port", "X-Forwarded-Proto", "X-Amzn-Trace-Id":
		return true
	}
	return false
}

// appendQuery appends both maps of the query, decoded; empty stands for a request without one.
func (x *exchange) appendQuery(b []byte, empty string) []byte {
	pairs := x.parseQuery()
	if len(pairs) == 0 {
		b = append(append(b, `"queryStringParameters":`...), empty...)
		b = append(append(b, `,"multiValueQueryStringParameters":`...), empty...)
		return append(b, ',')
	}
	multi := append(x.buffers.scratch[:0], `},"multiValueQueryStringParameters":{`...)
	b = append(b, `"queryStringParameters":{`...)
	for i := 0; i < len(pairs); {
		name := pairs[i].name
		b = append(appendString(b, name), ':')
		multi = append(appendString(multi, name), ':', '[')
		for ; i < len(pairs) && pairs[i].name == name; i++ {
			multi = append(appendString(multi, pairs[i].value), ',')
		}
		b = append(appendString(b, pairs[i-1].value), ',')
		multi[len(multi)-1] = ']'
		multi = append(multi, ',')
	}
	multi[len(multi)-1] = '}'
	x.buffers.scratch = multi
	return append(append(b[:len(b)-1], multi...), ',')
}

// parseQuery decodes the query's members, those of one name together in their order. A broken escape stays as it is.
func (x *exchange) parseQuery() []pair {
	pairs := x.buffers.pairs[:0]
	for rest := x.query; rest != ""; {
		member := rest
		if i := strings.IndexAny(rest, "&;"); i >= 0 { // a semicolon splits, too [APIGW/api-gateway-known-issues]
			member, rest = rest[:i], rest[i+1:]
		} else {
			rest = ""
		}
		if member == "" {
			continue
		}
		name, value, _ := strings.Cut(member, "=")
		pairs = append(pairs, pair{unescapeQuery(name), unescapeQuery(value)})
	}
	if len(pairs) > 1 {
		slices.SortStableFunc(pairs, func(a, b pair) int { return cmp.Compare(a.name, b.name) })
	}
	x.buffers.pairs = pairs
	return pairs
}

func unescapeQuery(s string) string {
	if decoded, err := url.QueryUnescape(s); err == nil {
		return strings.ToValidUTF8(decoded, "\uFFFD")
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}

// appendPathParameters appends the parameters' raw values.
func (x *exchange) appendPathParameters(b []byte, empty string) []byte {
	b = append(b, `"pathParameters":`...)
	if len(x.params) == 0 {
		return append(append(b, empty...), ',')
	}
	for i, value := range x.params {
		b = append(b, "{,"[min(i, 1)])
		b = append(appendString(b, x.resource.params[i]), ':')
		b = appendString(b, value)
	}
	return append(b, '}', ',')
}

// appendContext appends the request context, but for the authorizer and the closing brace. The domain is the Host header as it
// stands, the path has no stage: a custom domain with an empty base path.
func (x *exchange) appendContext(b []byte) []byte {
	b = append(b, x.resource.context...)
	b = appendString(append(b, `,"httpMethod":`...), x.method)
	b = appendString(append(b, `,"path":`...), x.path)
	b = appendString(append(b, `,"protocol":`...), x.r.Proto)
	b = appendString(append(b, `,"domainName":`...), x.host)
	b = appendString(append(b, `,"domainPrefix":`...), domainPrefix(x.host))
	b = appendString(append(b, `,"requestId":`...), x.id)
	b = appendString(append(b, `,"extendedRequestId":`...), x.extendedID)
	b = append(x.start.AppendFormat(append(b, `,"requestTime":"`...), requestTimeLayout), '"')
	b = strconv.AppendInt(append(b, `,"requestTimeEpoch":`...), x.start.UnixMilli(), 10)
	b = append(b, `,"identity":{"accessKey":null,"accountId":null,"caller":null,"cognitoAuthenticationProvider":null,`...)
	b = append(b, `"cognitoAuthenticationType":null,"cognitoIdentityId":null,"cognitoIdentityPoolId":null,`...)
	b = append(b, `"principalOrgId":null,"user":null,"userArn":null,"sourceIp":`...)
	b = appendString(b, x.sourceIP)
	b = appendStringOrNull(append(b, `,"userAgent":`...), x.r.Header.Get("User-Agent"))
	return append(b, '}')
}

// requestTimeLayout is the format of $context.requestTime.
const requestTimeLayout = "02/Jan/2006:15:04:05 -0700"

// domainPrefix is the host's first label; of an IP address, all of it.
func domainPrefix(host string) string {
	if i := strings.LastIndexByte(host, ':'); i >= 0 && !strings.HasSuffix(host, "]") {
		host = host[:i]
	}
	if strings.HasPrefix(host, "[") || strings.Trim(host, "0123456789.") == "" {
		return host
	}
	label, _, _ := strings.Cut(host, ".")
	return label
}
