// Package grants holds what the functions do in DynamoDB against what their policies in template.yaml let them do.
//
// The one concept is the Use: one action of one function on one table or index. A Recorder collects the uses of a run of the service, and
// Compare names every use that no policy grants and every grant that was not used. A call that failed is a use, too: its policy had to
// let it through. A transaction and a batch need what their parts need (Developer Guide, "Using IAM with DynamoDB transactions"): the
// local service tells them apart already.
//
// Not here: what is run (the end-to-end scripts, see the test), and policies on anything but DynamoDB's tables and indexes: what the
// template needs beside, test/template holds.
package grants
