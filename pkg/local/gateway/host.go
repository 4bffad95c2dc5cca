package gateway

import (
	"net"
	"net/http"
	"net/netip"
	"strings"
)

// hostOf is the address that the caller used: the Host header or what an absolute target says. HTTP/1.0 may have none, and a Host may be
// empty: then it is where the connection goes to.
func hostOf(r *http.Request) string {
	if r.Host != "" {
		return r.Host
	}
	if address, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr); ok {
		return address.String()
	}
	return ""
}

// isHost tells a name or an IP address, with or without a port. What is none belongs to no API; functions make URLs of it.
func isHost(host string) bool {
	name, port := host, ""
	if i := strings.LastIndexByte(host, ':'); i >= 0 && !strings.HasSuffix(host, "]") {
		name, port = host[:i], host[i+1:]
	}
	for i := range len(port) {
		if port[i] < '0' || port[i] > '9' {
			return false
		}
	}
	if strings.HasPrefix(name, "[") {
		address, err := netip.ParseAddr(strings.Trim(name, "[]"))
		return err == nil && address.Is6() && address.Zone() == "" && name == "["+strings.Trim(name, "[]")+"]"
	}
	for i := range len(name) {
		switch c := name[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '-', c == '.', c == '_':
		default:
			return false
		}
	}
	return name != "" || host == ""
}
