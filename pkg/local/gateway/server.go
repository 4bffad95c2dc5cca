package gateway

import (
	"net/http"
	"time"
)

// NewServer makes the HTTP server for a gateway (or what wraps one), with limits under which any bytes on the port end in an answer
// or a closed connection. The caller sets ErrorLog, and serves and shuts down.
func NewServer(h http.Handler) *http.Server {
	return &http.Server{
		Handler: h,
		// The gateway counts headers itself, to API Gateway's 10,240 bytes; beyond this net/http answers 431 and hangs up.
		MaxHeaderBytes:    64 * 1024,
		ReadHeaderTimeout: 10 * time.Second,
		ReadTimeout:       30 * time.Second,                    // head and body: a slower client gets 408
		WriteTimeout:      30*time.Second + 3*integrationLimit, // a slow body, an authorizer, a function, a slow reader
		IdleTimeout:       75 * time.Second,
		// OPTIONS * is for the gateway, like all else.
		DisableGeneralOptionsHandler: true,
	}
}
