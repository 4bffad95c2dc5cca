package client

import (
	"encoding/base64"
	"fmt"

	"toggleadmin/pkg/delivery/snapshot"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/jsonbody"
)

// maxResponse is the maximum size of a response on its way to the function URL, in bytes: Lambda returns at most 6 MB
// (docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html), of which a part is for the headers. The body is a
// JSON string there, in which a quotation mark takes two bytes, or base64 if it is compressed.
const maxResponse = 6<<20 - 64<<10

// checkSize returns an error if a body is too large to be returned. Without compression a client can do something about
// it. With compression an operator must: the error is a 500, with which SDKs keep their last state.
func checkSize(content []byte, compressed bool) error {
	if compressed {
		if size := base64.StdEncoding.EncodedLen(len(content)); size > maxResponse {
			return fmt.Errorf("the compressed response has %d bytes in base64, and the limit is %d", size, maxResponse)
		}
		return nil
	}
	if size := jsonbody.SizeOfString(content); size > maxResponse {
		return apierror.Errorf(apierror.Validation, "The response has %d bytes as a JSON string, and the limit without "+
			"compression is %d. Send the header `Accept-Encoding: gzip`.", size, maxResponse)
	}
	return nil
}

// maxInlined is the maximum size of the segments that are inlined in a response, in bytes. A strategy has up to 500 kB
// of them, and the function could not compress more within its time.
const maxInlined = 10_000_000

// checkInlined returns an error if the segments of a document are too large to be inlined.
func checkInlined(d snapshot.Document) error {
	if size := d.InlinedSize(); size > maxInlined {
		return apierror.Errorf(apierror.Validation, "The segments have %d bytes in the strategies that use them, and the "+
			"limit is %d. Send the header `Unleash-Client-Spec` with 4.2.0 or later, if the SDK knows segments.",
			size, maxInlined)
	}
	return nil
}
