package samlocal

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os/exec"
	"strings"
	"time"
)

// Relay forwards the requests of containers to a server that listens on 127.0.0.1. It listens on the address of this
// machine in Docker's default network, which other machines cannot reach.
type Relay struct {
	Endpoint string // as containers know it: samconfig.toml gives this machine the name host.docker.internal
	Address  string // as this machine knows it

	server *http.Server
}

// StartRelay forwards requests to a URL until Close is called.
func StartRelay(ctx context.Context, target string) (*Relay, error) {
	to, err := url.Parse(target)
	if err != nil {
		return nil, fmt.Errorf("parse the endpoint: %w", err)
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp4", net.JoinHostPort(bridgeAddress(ctx), "0"))
	if err != nil {
		return nil, fmt.Errorf("listen for containers: %w", err)
	}
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(to) }}
	r := &Relay{Address: listener.Addr().String(), server: &http.Server{Handler: proxy, ReadHeaderTimeout: time.Minute}}
	_, port, _ := net.SplitHostPort(r.Address)
	r.Endpoint = "http://host.docker.internal:" + port
	go func() { _ = r.server.Serve(listener) }() // until Close
	return r, nil
}

// Close ends the relay and all connections.
func (r *Relay) Close() { _ = r.server.Close() }

// bridgeAddress returns the address of this machine in Docker's default network. If there is none, Docker runs in a
// virtual machine, and containers reach 127.0.0.1 by the name of the host.
func bridgeAddress(ctx context.Context) string {
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
	return "127.0.0.1"
}
