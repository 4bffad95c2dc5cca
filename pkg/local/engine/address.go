package engine

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"net"
	"net/netip"
	"strconv"
)

// Ports are below the range that Linux uses for outgoing connections (32768 to 60999). Otherwise a connection of a
// client could take the port while the engine restarts.
const lowestPort, ports = 20000, 12768

// randomAddress returns an address with a random port. If host is empty, it is a random loopback address too, which
// gives about 2^37 addresses. On Linux, all of 127.0.0.0/8 is loopback. Where it is not, the address is 127.0.0.1.
func randomAddress(ctx context.Context, host string) string {
	var random [5]byte
	_, _ = rand.Read(random[:]) // never fails
	if host == "" {
		// From 127.1.0.0 to 127.254.255.255: neither the network, the broadcast address nor 127.0.0.1.
		host = netip.AddrFrom4([4]byte{127, 1 + random[0]%254, random[1], random[2]}).String()
		probe, err := new(net.ListenConfig).Listen(ctx, "tcp4", net.JoinHostPort(host, "0"))
		if err != nil {
			host = "127.0.0.1"
		} else {
			_ = probe.Close()
		}
	}
	port := lowestPort + int(binary.BigEndian.Uint16(random[3:]))%ports
	return net.JoinHostPort(host, strconv.Itoa(port))
}
