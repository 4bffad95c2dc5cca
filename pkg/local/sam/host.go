package sam

import (
	"context"
	"net"
	"net/url"
	"os/exec"
	"strings"
)

const (
	loopback = "127.0.0.1"
	// hostName is the name of this machine in containers, which samconfig.toml gives it. Where Docker runs in a virtual
	// machine, connections to it reach 127.0.0.1 of this machine.
	hostName = "host.docker.internal"
)

// HostAddress returns the address on which a server must listen so that containers reach it: the one of this machine in
// Docker's default network, which other machines cannot reach. If there is none, Docker runs in a virtual machine.
func HostAddress(ctx context.Context) string {
	format := `{{index .Options "com.docker.network.bridge.name"}}`
	name, err := exec.CommandContext(ctx, "docker", "network", "inspect", "bridge", "--format", format).Output()
	if err == nil {
		if bridge, err := net.InterfaceByName(strings.TrimSpace(string(name))); err == nil {
			addresses, _ := bridge.Addrs()
			for _, address := range addresses {
				if network, ok := address.(*net.IPNet); ok && network.IP.To4() != nil {
					return network.IP.String()
				}
			}
		}
	}
	return loopback
}

// OnHost returns the URL of a server on this machine with the address that containers reach, see HostAddress. Other
// URLs stay unchanged.
func OnHost(endpoint, hostAddress string) string { return replaceLoopback(endpoint, hostAddress) }

// InContainer returns the URL with which containers reach a URL of OnHost.
func InContainer(endpoint string) string { return replaceLoopback(endpoint, hostName) }

// replaceLoopback replaces the host of a URL if it is a loopback address or localhost.
func replaceLoopback(endpoint, host string) string {
	parsed, err := url.Parse(endpoint)
	if err != nil {
		return endpoint
	}
	ip := net.ParseIP(parsed.Hostname())
	if parsed.Hostname() != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return endpoint
	}
	if port := parsed.Port(); port != "" {
		host = net.JoinHostPort(host, port)
	}
	parsed.Host = host
	return parsed.String()
}
