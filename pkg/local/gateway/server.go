package gateway

import (
	"bytes"
	"net"
	"net/http"
	"time"
)

// NewServer returns an HTTP server for a gateway. Its limits ensure that every connection ends with a response or is closed, whatever a
// client sends and however slowly. The caller sets ErrorLog, serves on a listener of NewListener and shuts the server down.
func NewServer(h http.Handler) *http.Server {
	return &http.Server{
		Handler: h,
		// The gateway applies API Gateway's limit of 10,240 bytes itself. Above this one net/http responds with 431 and closes.
		MaxHeaderBytes:    64 * 1024,
		ReadHeaderTimeout: 10 * time.Second,
		ReadTimeout:       30 * time.Second,                    // headers and body; the response to a slower client is 408
		WriteTimeout:      30*time.Second + 3*integrationLimit, // slow body, authorizer, function, slow reader
		IdleTimeout:       75 * time.Second,
		// The gateway responds to OPTIONS * as to every other request.
		DisableGeneralOptionsHandler: true,
	}
}

// NewListener wraps a TCP listener. net/http responds with 501 to an unknown transfer coding and with 505 to an unknown HTTP version,
// before it calls a handler. The connections of this listener replace both by 400, the status of every other malformed request.
func NewListener(l net.Listener) net.Listener { return listener{l} }

type listener struct{ net.Listener }

// Accept implements net.Listener.
func (l listener) Accept() (net.Conn, error) {
	accepted, err := l.Listener.Accept()
	if tcp, ok := accepted.(*net.TCPConn); ok {
		return conn{tcp}, err
	}
	return accepted, err
}

// conn is a TCP connection with all its methods: net/http closes the two directions separately.
type conn struct{ *net.TCPConn }

// Responses that net/http (Go 1.26, server.go) writes itself, in one call. A handler's response has other headers after the status.
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
