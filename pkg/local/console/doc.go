// Package console is what `make run` shows of its requests and errors on standard error.
//
// The one concept: a Console gets the gateway's requests and the functions' log records and writes one line for each request. On a
// terminal the line is aligned, and the causes of its errors stand beneath it, found by the request's id; otherwise everything is a line
// of JSON, the gateway's access log too. No line ever shows a control character of a caller's or a credential.
//
// The functions' records below the level Warn are not shown: they say what the request's line says. JSON has those of refused requests,
// which name the error's id. A function that is called beside the API says more, but where its calls are routine (each second one, for the
// access log): a terminal shows those calls only where they failed or their function warned.
//
// Not here: standard output, which has the addresses and credentials that a user asked for.
package console
