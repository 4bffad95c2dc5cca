package evaluation

import (
	"errors"
	"net/netip"
	"strings"
)

var errNetwork = errors.New("must be an IP address or a CIDR block such as 192.0.2.7, 192.0.2.0/24 or 2001:db8::/32")

func checkNetwork(value string) error {
	if _, ok := parseNetwork(value); !ok {
		return errNetwork
	}
	return nil
}

// parseNetwork parses a CIDR block, or an address, which is a block of one address. An address has no zone.
func parseNetwork(text string) (netip.Prefix, bool) {
	if strings.Contains(text, "/") {
		network, err := netip.ParsePrefix(text)
		return network, err == nil
	}
	address, ok := parseAddress(text)
	return netip.PrefixFrom(address, address.BitLen()), ok
}

func parseAddress(text string) (netip.Addr, bool) {
	address, err := netip.ParseAddr(text)
	return address, err == nil && address.Zone() == ""
}
