// Package samtemplate reads the project's AWS SAM template, so that what runs on one machine is what the template says and nothing is
// repeated by hand.
//
// The one concept: a reading is whole or it fails. Globals are merged as SAM merges them, conditions decided, every intrinsic function
// resolved; any function, reference, resource type, event type or property that this package does not know ends the reading with one
// line that names file, line and place. A template that loads holds nothing that was silently left out: what has no meaning on one
// machine (memory classes, log groups, roles, tags) is named in the code as known and not played.
//
// Ref of a resource gives its logical id, which is its name on one machine; GetAtt Arn gives an ARN of AWS's form.
//
// Not here: what API Gateway, Lambda or DynamoDB do with it, CloudFormation's own checks (`sam validate --lint` makes those), and
// anything of AWS's SDK.
package samtemplate
