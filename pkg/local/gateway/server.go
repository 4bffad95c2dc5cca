package gateway

import (
	"net/http"
	"time"
)

// NewServer returns an HTTP server for a gateway. Its limits ensure that every connection ends with a response or is
// closed, whatever a client sends and however slowly. The caller sets ErrorLog and shuts the server down.
func NewServer(h http.Handler) *http.Server {
	return &http.Server{
		Handler: h,
		// The gateway applies API Gateway's limit of 10,240 bytes itself. Above this one net/http responds with 431 and
		// closes.
		MaxHeaderBytes:    64 * 1024,
		ReadHeaderTimeout: 10 * time.Second,
		ReadTimeout:       30 * time.Second,                    // headers and body; the response to a slower client is 408
		WriteTimeout:      30*time.Second + 3*integrationLimit, // slow body, authorizer, function, slow reader
		IdleTimeout:       75 * time.Second,
		// The gateway responds to OPTIONS * as to every other request.
		DisableGeneralOptionsHandler: true,
	}
}
