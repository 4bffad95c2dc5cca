// Command baseline is a minimal function with one DynamoDB call: the SDK packages and the warm-up of the real
// functions, one GetItem per invocation, and nothing else. The benchmark compares the functions with it.
package main

import (
	"context"
	"encoding/json"
	"os"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/platform/dynamo"
)

func main() {
	endpoint := os.Getenv("DYNAMODB_ENDPOINT")
	client := dynamodb.NewFromConfig(aws.Config{
		Region: os.Getenv("AWS_REGION"),
		Credentials: credentials.NewStaticCredentialsProvider(os.Getenv("AWS_ACCESS_KEY_ID"),
			os.Getenv("AWS_SECRET_ACCESS_KEY"), ""),
		HTTPClient: dynamo.NewHTTPClient(endpoint),
	}, func(o *dynamodb.Options) { o.BaseEndpoint = &endpoint })
	if err := dynamo.WarmUp(context.Background(), client); err != nil {
		panic(err)
	}
	lambda.Start(func(ctx context.Context, _ json.RawMessage) (string, error) {
		_, err := client.GetItem(ctx, &dynamodb.GetItemInput{
			TableName: aws.String(os.Getenv("USERS_TABLE")), ConsistentRead: aws.Bool(true),
			Key: map[string]types.AttributeValue{"id": &types.AttributeValueMemberN{Value: "1"}},
		})
		return "", err
	})
}
