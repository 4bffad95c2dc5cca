// Package bus emulates the services between an event and the webhook for the local service: a bus of EventBridge, its
// rules, the queues of SQS and the secret in Parameter Store. Functions call them with the SDK, as on AWS. Package
// trigger emulates the event source mapping of a queue.
//
// Only what template.yaml uses is supported. There is one bus, and a rule matches every event of the service and sends
// its detail to a queue.
//
// A message is a file, which exists when PutEvents returns and is deleted when a function has processed the message. It
// also contains the time until which the message is delayed. Messages are kept when the program ends, even after
// SIGKILL, but can be lost in a power failure, because files are not synced to the disk. A message that is being
// processed when the program ends is received again at the next start, and that attempt is not counted. A message that
// was received too often is appended to the file of the dead-letter queue, DATA_DIR/queues/<LogicalId>.jsonl.
package bus
