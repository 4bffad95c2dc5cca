package webhook

import (
	"fmt"
	"net"
	"net/netip"
	"syscall"
	"time"
)

// reserved are addresses that are not on the internet, or that contain another address, besides those that netip knows.
// Source: the IANA IPv4 and IPv6 Special-Purpose Address Registries.
var reserved = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"),       // this network
	netip.MustParsePrefix("100.64.0.0/10"),   // shared by carriers
	netip.MustParsePrefix("192.0.0.0/24"),    // protocol assignments
	netip.MustParsePrefix("192.0.2.0/24"),    // documentation
	netip.MustParsePrefix("192.88.99.0/24"),  // 6to4 relays
	netip.MustParsePrefix("198.18.0.0/15"),   // benchmarks
	netip.MustParsePrefix("198.51.100.0/24"), // documentation
	netip.MustParsePrefix("203.0.113.0/24"),  // documentation
	netip.MustParsePrefix("240.0.0.0/4"),     // reserved, and broadcast
	netip.MustParsePrefix("2001::/23"),       // protocol assignments, Teredo: contains an IPv4 address
	netip.MustParsePrefix("2001:db8::/32"),   // documentation
	netip.MustParsePrefix("2002::/16"),       // 6to4: contains an IPv4 address
	netip.MustParsePrefix("3fff::/20"),       // documentation
}

// internet is the part of IPv6 that is assigned to the internet. Translations of IPv4 (64:ff9b::/96) are not in it.
var internet = netip.MustParsePrefix("2000::/3")

// isPublic reports whether an address is on the internet.
func isPublic(a netip.Addr) bool {
	a = a.Unmap().WithZone("")
	if !a.IsGlobalUnicast() || a.IsPrivate() || a.Is6() && !internet.Contains(a) {
		return false
	}
	for _, prefix := range reserved {
		if prefix.Contains(a) {
			return false
		}
	}
	return true
}

// dialer returns a dialer that connects only to permitted addresses. It checks each address after the name was
// resolved, so the responses of a DNS server cannot lead to another one.
func dialer(permitted func(netip.Addr) bool) *net.Dialer {
	return &net.Dialer{
		Timeout: timeout, KeepAlive: 30 * time.Second,
		Control: func(_, address string, _ syscall.RawConn) error {
			found, err := netip.ParseAddrPort(address)
			if err != nil {
				return fmt.Errorf("address %s: %w", address, err)
			}
			if !permitted(found.Addr()) {
				return fmt.Errorf("%w: %s", ErrNotPermitted, found.Addr())
			}
			return nil
		},
	}
}
