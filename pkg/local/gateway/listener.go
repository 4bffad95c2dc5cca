package gateway

import (
	"bytes"
	"net"
)

// NewListener makes connections on which bytes that are no request of ours are the client's fault: net/http answers a transfer coding
// that it does not know with 501 and a version of HTTP with 505, before any handler is asked; 400 is sent instead, as for all else that
// is malformed. Serve NewServer's server on it.
func NewListener(l net.Listener) net.Listener { return listener{l} }

type listener struct{ net.Listener }

// Accept implements net.Listener.
func (l listener) Accept() (net.Conn, error) {
	accepted, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	tcp, ok := accepted.(*net.TCPConn)
	if !ok {
		return accepted, nil
	}
	return conn{tcp}, nil
}

// conn is a TCP connection with all its methods: net/http closes its halves apart.
type conn struct{ *net.TCPConn }

// What net/http (Go 1.26, server.go) writes at once and by itself, and what it writes for every other malformed request. A handler's
// answer has other headers behind its status.
const (
	ownHeaders    = "Content-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n"
	unknownCoding = "HTTP/1.1 501 Not Implemented\r\n" + ownHeaders
	unknownHTTP   = "HTTP/1.1 505 HTTP Version Not Supported: unsupported protocol version\r\n" + ownHeaders
	malformed     = "HTTP/1.1 400 Bad Request\r\n" + ownHeaders + "400 Bad Request"
)

// Write implements net.Conn.
func (c conn) Write(b []byte) (int, error) {
	if !bytes.HasPrefix(b, []byte(unknownCoding)) && !bytes.HasPrefix(b, []byte(unknownHTTP)) {
		return c.TCPConn.Write(b)
	}
	if _, err := c.TCPConn.Write([]byte(malformed)); err != nil {
		return 0, err
	}
	return len(b), nil
}
