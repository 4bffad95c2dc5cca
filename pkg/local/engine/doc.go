// Package engine runs the DynamoDB-compatible server of `make run` and of the tests as a child process.
//
// The one concept is the Engine: a server on one port of this machine, with its data in one folder or in memory. While it serves, a child that
// dies is started again on the same port, so that a client's retries succeed; every acknowledged write is in the file. The child
// ends with its parent, also after kill -9 where the system can do that; one that is left behind all the same is ended by the next Start.
//
// What differs from server to server is in a Program: dynoxide from its npm package (see Find), or AWS's DynamoDB Local from Maven (see
// FindDynamoDBLocal), each by version: nothing is downloaded here. A folder holds the data of one of them.
//
// Not here: who may use the folder (the caller holds its lock: two servers on one file spoil it), tables, and engines that
// somebody else runs.
package engine
