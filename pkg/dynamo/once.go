package dynamo

import (
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

// Once is the option of a call whose faults are not repeated here: for work that adapts to them.
func Once(o *dynamodb.Options) { o.Retryer = aws.NopRetryer{} }

// Throttled says whether a call was refused because there were too many.
func Throttled(err error) bool {
	return retry.ThrottleErrorCode{Codes: retry.DefaultThrottleErrorCodes}.IsErrorThrottle(err).Bool()
}
