// Package openapi validates HTTP requests and responses against the API's document, api/openapi.yaml:
//
//	validator, err := openapi.Load()
//	client := &http.Client{Transport: validator.Transport(http.DefaultTransport, "", func(err error) { t.Error(err) })}
//
// A response must have a declared status, the declared headers, a declared content type and a body that matches the
// schema. If the status is a success, the request must match too. A path or method that the document does not declare
// must return 404 with the error object.
//
// kin-openapi reads the document. JSON Schemas are evaluated by another library, and as they are in the files, so that
// a defect of one library does not hide a defect of the service.
package openapi
