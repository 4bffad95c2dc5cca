// Package openapi holds HTTP traffic against the API's document, api/openapi.yaml.
//
// Its one concept is the exchange: a request, its answer, and the question whether the document foresees that pair. Transport puts the
// question to all traffic of a client, so each end-to-end test asks it without a word of its own:
//
//	client := &http.Client{Transport: openapi.Transport(http.DefaultTransport, func(err error) { t.Error(err) })}
//
// An answer must have a declared status, the declared headers, the declared content type and a body that fits the schema. A request
// that was answered with success must have fitted, too; one that was refused may have been anything. A path or method that the document
// does not have must get the 404 with the error object.
//
// The document is read by kin-openapi, which also validates it in a test of this package; bodies are judged by the JSON Schemas
// themselves, as they stand in the file and in the files that it references, so that the service and its document are measured with
// the same bytes.
//
// Not here: what an answer means. That 30 was sent and 30 came back is for the tests to say.
package openapi
