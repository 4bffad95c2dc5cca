// Package loopback recognizes the addresses at which a machine reaches itself.
package loopback

import "net/netip"

// IsHost reports whether a host, without a port and without brackets, is localhost or a loopback address. It accepts no
// other name, because a DNS server could resolve it to another machine.
func IsHost(host string) bool {
	a, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && IsAddress(a)
}

// IsAddress reports whether an address is in 127.0.0.0/8, possibly mapped to IPv6, or ::1.
func IsAddress(a netip.Addr) bool { return a.Unmap().IsLoopback() }
