// Package jsonbody reads the JSON body of a request strictly (contract, section 2): content type, size, syntax, then the operation's
// JSON Schema, which is the same file that api/openapi.yaml shows to callers.
//
// The one concept: a Schema turns a request into an Object or into one *apierror.Error that names every offending property by its
// place. There is no coercion: "7" is no integer, while 1.0 and 1e2 are (JSON Schema's rule).
//
// What is not here: the rules that need more than the body, such as whose id a userId is.
package jsonbody
