// Package counting keeps what a process of functions/client learns of applications, and writes it to DynamoDB: how
// often they evaluated toggles, which applications and instances there are, how many requests they sent (Recorder),
// and when their tokens were last used (SeenTokens).
//
// It is apart from responses: none depends on what is counted. A write that fails is logged and repeated later.
// What a process has counted since its last write is lost with it.
package counting
