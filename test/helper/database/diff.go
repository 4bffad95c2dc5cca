package database

import (
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// Items are the options to compare items.
func Items() cmp.Option {
	return cmp.Options{cmpopts.EquateEmpty(), cmpopts.IgnoreUnexported(
		types.AttributeValueMemberS{}, types.AttributeValueMemberN{}, types.AttributeValueMemberB{},
		types.AttributeValueMemberBOOL{},
		types.AttributeValueMemberL{}, types.AttributeValueMemberM{})}
}
