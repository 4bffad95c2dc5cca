// Package webhook sends events to a webhook: an HTTPS request for each event, signed according to the Standard Webhooks
// specification (standardwebhooks.com).
//
// A rule of the bus sends the events to a queue, and the queue invokes the function. An event that the webhook does not
// accept stays in the queue, with a delay that grows with each attempt. After the last attempt the queue moves it to
// the dead-letter queue.
package webhook
