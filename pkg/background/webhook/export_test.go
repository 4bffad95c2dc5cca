package webhook

import "time"

// IsPublic is isPublic, for addresses that a test must not connect to.
var IsPublic = isPublic

// RetryDelay is retryDelay.
var RetryDelay = retryDelay

// SetTimeout replaces the timeout of requests.
func (c *Client) SetTimeout(d time.Duration) { c.http.Timeout = d }
