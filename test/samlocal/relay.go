package samlocal

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/url"
	"os/exec"
	"strings"
	"sync"
)

// Relay passes on connections that containers make to a server of this machine that listens on 127.0.0.1, out of their reach. It listens
// on the address that the machine has in Docker's own network, so nobody else reaches it.
type Relay struct {
	listener net.Listener
	target   string // host:port

	mu    sync.Mutex
	open  map[net.Conn]bool
	ended bool
	pairs sync.WaitGroup
}

// StartRelay passes connections on to the address of an http:// endpoint, until Close.
func StartRelay(ctx context.Context, endpoint string) (*Relay, error) {
	target, err := url.Parse(endpoint)
	if err != nil {
		return nil, fmt.Errorf("read the endpoint: %w", err)
	}
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp4", net.JoinHostPort(bridgeAddress(ctx), "0"))
	if err != nil {
		return nil, fmt.Errorf("listen where containers reach it: %w", err)
	}
	r := &Relay{listener: listener, target: target.Host, open: map[net.Conn]bool{}}
	r.pairs.Go(r.accept)
	return r, nil
}

// Endpoint is the server's address as containers know it: samconfig.toml gives them this name for the host.
func (r *Relay) Endpoint() string {
	_, port, _ := net.SplitHostPort(r.listener.Addr().String())
	return "http://host.docker.internal:" + port
}

// Close ends the relay and every connection. It may be called more than once.
func (r *Relay) Close() {
	_ = r.listener.Close()
	r.mu.Lock()
	r.ended = true
	for connection := range r.open {
		_ = connection.Close()
	}
	r.mu.Unlock()
	r.pairs.Wait()
}

// bridgeAddress is the address of this machine in Docker's default network. Where there is none (Docker in a virtual machine of its own)
// containers reach 127.0.0.1 itself under the host's name.
func bridgeAddress(ctx context.Context) string {
	const loopback = "127.0.0.1"
	format := `{{index .Options "com.docker.network.bridge.name"}}`
	name, err := exec.CommandContext(ctx, "docker", "network", "inspect", "bridge", "--format", format).Output()
	if err != nil {
		return loopback
	}
	bridge, err := net.InterfaceByName(strings.TrimSpace(string(name)))
	if err != nil {
		return loopback
	}
	addresses, err := bridge.Addrs()
	if err != nil {
		return loopback
	}
	for _, address := range addresses {
		if network, ok := address.(*net.IPNet); ok && network.IP.To4() != nil {
			return network.IP.String()
		}
	}
	return loopback
}

func (r *Relay) accept() {
	for {
		client, err := r.listener.Accept()
		if err != nil {
			return
		}
		r.pairs.Go(func() { r.pass(client) })
	}
}

// pass copies both ways until both ends have said all.
func (r *Relay) pass(client net.Conn) {
	defer r.forget(client)
	var dialer net.Dialer
	server, err := dialer.Dial("tcp", r.target)
	if err != nil {
		_ = client.Close()
		return
	}
	defer r.forget(server)
	if !r.remember(client) || !r.remember(server) {
		return
	}
	var directions sync.WaitGroup
	for _, ends := range [][2]net.Conn{{client, server}, {server, client}} {
		directions.Go(func() {
			_, _ = io.Copy(ends[1], ends[0])
			if end, ok := ends[1].(*net.TCPConn); ok {
				_ = end.CloseWrite()
			}
		})
	}
	directions.Wait()
}

// remember says whether the relay still runs: Close ends the connection then.
func (r *Relay) remember(connection net.Conn) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.open[connection] = true
	return !r.ended
}

func (r *Relay) forget(connection net.Conn) {
	_ = connection.Close()
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.open, connection)
}
