package client

import (
	"errors"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// Proxies are those in front of the function URL that are trusted to say who the caller is. The zero Proxies are none.
type Proxies struct {
	cloudFront bool
	networks   []netip.Prefix
}

// The values of TrustedProxies in template.yaml that are no networks.
const (
	proxiesNone       = "none"
	proxiesCloudFront = "cloudfront"
)

// errProxies completes a sentence about a setting.
var errProxies = errors.New("must be none, cloudfront, or networks such as 203.0.113.0/24, separated by commas")

// ParseProxies parses the parameter TrustedProxies.
func ParseProxies(text string) (Proxies, error) {
	switch text {
	case proxiesNone:
		return Proxies{}, nil
	case proxiesCloudFront:
		return Proxies{cloudFront: true}, nil
	}
	var p Proxies
	for block := range strings.SplitSeq(text, ",") {
		network, err := netip.ParsePrefix(block)
		if err != nil {
			return Proxies{}, errProxies
		}
		p.networks = append(p.networks, network)
	}
	return p, nil
}

// caller returns the IP address of the caller: what a trusted proxy says, and otherwise the address of the connection.
func (p Proxies) caller(r *http.Request) string {
	connection, ok := parseAddress(r.RemoteAddr)
	if !ok {
		return r.RemoteAddr
	}
	if p.cloudFront {
		if viewer, ok := viewerAddress(r.Header.Get("CloudFront-Viewer-Address")); ok {
			return viewer.String()
		}
	}
	// Each proxy appends the address from which it got the request. What is left of the first one that is not trusted can
	// be invented.
	caller := connection
	chain := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for _, sent := range slices.Backward(append(chain, r.RemoteAddr)) {
		address, ok := parseAddress(sent)
		if !ok {
			break
		}
		caller = address
		if !p.trusts(address) && !(p.cloudFront && address == connection) {
			break
		}
	}
	return caller.String()
}

func (p Proxies) trusts(address netip.Addr) bool {
	return slices.ContainsFunc(p.networks, func(n netip.Prefix) bool { return n.Contains(address) })
}

// viewerAddress parses a header of CloudFront: an IP address with a port, without brackets around an IPv6 address.
func viewerAddress(sent string) (netip.Addr, bool) {
	address, err := netip.ParseAddr(sent[:max(strings.LastIndexByte(sent, ':'), 0)])
	return plain(address), err == nil
}

// parseAddress parses an IP address that can have a port.
func parseAddress(text string) (netip.Addr, bool) {
	text = strings.TrimSpace(text)
	address, err := netip.ParseAddr(text)
	if err != nil {
		var withPort netip.AddrPort
		withPort, err = netip.ParseAddrPort(text)
		address = withPort.Addr()
	}
	return plain(address), err == nil
}

// plain returns an address without a zone, and an IPv4 address that is mapped to IPv6 as such.
func plain(address netip.Addr) netip.Addr { return address.Unmap().WithZone("") }
