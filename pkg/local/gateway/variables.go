package gateway

import (
	"fmt"
	"maps"
	"strconv"
	"strings"
	"time"
)

// variable appends a $context variable's value; nothing where it has none.
type variable func(b []byte, x *exchange) []byte

// template is text with $context variables. There is no escaping and no other language in it
// [APIGW/api-gateway-gatewayResponse-definition].
type template struct {
	parts []part
	unset string // stands for a variable without value
}

type part struct {
	literal string
	value   variable // nil: literal
}

// append fills the template in.
func (t template) append(b []byte, x *exchange) []byte {
	for _, p := range t.parts {
		if p.value == nil {
			b = append(b, p.literal...)
			continue
		}
		before := len(b)
		if b = p.value(b, x); len(b) == before {
			b = append(b, t.unset...)
		}
	}
	return b
}

// compileTemplate reads a template and refuses what is no known variable.
func compileTemplate(text string, known map[string]variable, unset string) (template, error) {
	t := template{unset: unset}
	for text != "" {
		i := strings.IndexByte(text, '$')
		if i < 0 || i == len(text)-1 {
			t.parts = append(t.parts, part{literal: text})
			break
		}
		if i > 0 {
			t.parts = append(t.parts, part{literal: text[:i]})
		}
		text = text[i+1:]
		end := 0
		for end < len(text) && isNameByte(text[end]) {
			end++
		}
		name := strings.TrimRight(text[:end], ".")
		if name == "" && text[0] != '{' {
			t.parts = append(t.parts, part{literal: "$"})
			continue
		}
		value, err := lookup(name, known)
		if err != nil {
			return template{}, err
		}
		t.parts = append(t.parts, part{value: value})
		text = text[len(name):]
	}
	return t, nil
}

func isNameByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '.'
}

// lookup finds a variable. What follows context.authorizer. and is not the gateway's own is a key of the authorizer's context.
func lookup(name string, known map[string]variable) (variable, error) {
	variableName, ok := strings.CutPrefix(name, "context.")
	if !ok {
		return nil, fmt.Errorf("$%s can not be played: only $context variables are", name)
	}
	if v := known[variableName]; v != nil {
		return v, nil
	}
	key, ok := strings.CutPrefix(variableName, "authorizer.")
	if !ok || key == "" || strings.Contains(key, ".") {
		return nil, fmt.Errorf("$%s is no variable that can be played", name)
	}
	return func(b []byte, x *exchange) []byte {
		if x.authorized != nil {
			for _, p := range x.authorized.context {
				if p.name == key {
					return append(b, p.value...)
				}
			}
		}
		return b
	}, nil
}

// contextVariables are those of gateway responses [APIGW/api-gateway-mapping-template-reference].
func contextVariables() map[string]variable {
	text := func(get func(x *exchange) string) variable {
		return func(b []byte, x *exchange) []byte { return append(b, get(x)...) }
	}
	none := func(b []byte, _ *exchange) []byte { return b }
	all := map[string]variable{
		"accountId":          text(func(x *exchange) string { return x.g.config.AccountID }),
		"apiId":              text(func(x *exchange) string { return x.g.config.APIID }),
		"stage":              text(func(x *exchange) string { return x.g.config.API.Stage }),
		"requestId":          text(func(x *exchange) string { return x.id }),
		"extendedRequestId":  text(func(x *exchange) string { return x.extendedID }),
		"httpMethod":         text(func(x *exchange) string { return x.method }),
		"path":               text(func(x *exchange) string { return x.path }),
		"protocol":           text(func(x *exchange) string { return x.r.Proto }),
		"domainName":         text(func(x *exchange) string { return x.host }),
		"domainPrefix":       text(func(x *exchange) string { return domainPrefix(x.host) }),
		"identity.sourceIp":  text(func(x *exchange) string { return x.sourceIP }),
		"identity.userAgent": text(func(x *exchange) string { return x.r.Header.Get("User-Agent") }),
		"requestTime": func(b []byte, x *exchange) []byte {
			return x.start.AppendFormat(b, requestTimeLayout)
		},
		"requestTimeEpoch": func(b []byte, x *exchange) []byte { return strconv.AppendInt(b, x.start.UnixMilli(), 10) },
		"resourcePath":     text(func(x *exchange) string { return x.resourceText((*resource).pathText) }),
		"resourceId":       text(func(x *exchange) string { return x.resourceText((*resource).idText) }),
		"authorizer.principalId": text(func(x *exchange) string {
			if x.authorized == nil {
				return ""
			}
			return x.authorized.principal
		}),
		"error.responseType": func(b []byte, x *exchange) []byte {
			if x.refused == nil {
				return b
			}
			return append(b, x.refused.kind...)
		},
		"error.message": func(b []byte, x *exchange) []byte {
			if x.refused == nil {
				return b
			}
			return append(b, x.refused.message...)
		},
		"error.messageString": func(b []byte, x *exchange) []byte {
			if x.refused == nil {
				return b
			}
			return appendStringOrNull(b, x.refused.message)
		},
	}
	for _, name := range []string{
		"error.validationErrorString", "identity.accountId", "identity.apiKey", "identity.apiKeyId", "identity.caller", "identity.user",
		"identity.userArn", "identity.cognitoIdentityId", "identity.cognitoIdentityPoolId", "identity.principalOrgId",
		"wafResponseCode", "webaclArn", "customDomain.basePathMatched", "deploymentId", "operationName",
	} {
		all[name] = none
	}
	return all
}

// logVariables are those of the access log [APIGW/api-gateway-variables-for-access-logging].
func logVariables() map[string]variable {
	number := func(get func(x *exchange) int64) variable {
		return func(b []byte, x *exchange) []byte { return strconv.AppendInt(b, get(x), 10) }
	}
	integration := func(get func(x *exchange) int64) variable {
		return func(b []byte, x *exchange) []byte {
			if x.integrationStatus == 0 {
				return b
			}
			return strconv.AppendInt(b, get(x), 10)
		}
	}
	authorizer := func(b []byte, x *exchange) []byte {
		if x.authorized == nil {
			return b
		}
		return strconv.AppendInt(b, ms(x.authorizerLatency), 10)
	}
	all := map[string]variable{
		"status":                        number(func(x *exchange) int64 { return int64(x.status) }),
		"responseLength":                number(func(x *exchange) int64 { return int64(x.length) }),
		"responseLatency":               number(func(x *exchange) int64 { return ms(x.latency) }),
		"integrationLatency":            integration(func(x *exchange) int64 { return ms(x.integrationLatency) }),
		"integration.latency":           integration(func(x *exchange) int64 { return ms(x.integrationLatency) }),
		"integrationStatus":             integration(func(x *exchange) int64 { return int64(x.integrationStatus) }),
		"integration.status":            integration(func(x *exchange) int64 { return int64(x.integrationStatus) }),
		"authorizer.latency":            authorizer,
		"authorizer.integrationLatency": authorizer,
		"authorizer.error":              func(b []byte, x *exchange) []byte { return append(b, x.authorizerError...) },
		"xrayTraceId":                   func(b []byte, x *exchange) []byte { return append(b, strings.TrimPrefix(x.trace, "Root=")...) },
	}
	maps.Copy(all, contextVariables())
	return all
}

func ms(d time.Duration) int64 { return d.Milliseconds() }

func (r *resource) pathText() string { return r.path }

func (r *resource) idText() string { return r.id }

func (x *exchange) resourceText(get func(*resource) string) string {
	if x.resource == nil {
		return ""
	}
	return get(x.resource)
}
