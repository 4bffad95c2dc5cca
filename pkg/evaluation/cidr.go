package evaluation

import (
	"errors"
	"net/netip"
	"strings"

	"toggleadmin/pkg/toggle"
)

// networks is the condition of IN_CIDR, and of strategies of the type remoteAddress: CIDR blocks.
type networks []netip.Prefix

func compileCIDR(c *toggle.Constraint) condition { return compileNetworks(c.Values) }

// compileNetworks leaves out values that are no blocks and no addresses.
func compileNetworks(values []string) networks {
	var n networks
	for _, value := range values {
		if network, ok := parseNetwork(value); ok {
			n = append(n, network)
		}
	}
	return n
}

func (n networks) holds(value string) bool {
	address, ok := parseAddress(value)
	if !ok {
		return false
	}
	for _, network := range n {
		if network.Contains(address) {
			return true
		}
	}
	return false
}

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
