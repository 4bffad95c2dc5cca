package dynamo

import "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

// MaxItem is the maximum size of an item, in bytes (docs.aws.amazon.com/amazondynamodb/latest/developerguide/
// Constraints.html: 400 KB).
const MaxItem = 400 * 1024

// The sizes of values, in bytes (docs.aws.amazon.com/amazondynamodb/latest/developerguide/CapacityUnitCalculations.html).
const (
	flagSize       = 1  // a boolean
	numberSize     = 21 // the maximum
	collectionSize = 3  // a list or a map without elements
	elementSize    = 1  // of a list or a map, in addition to its content
)

// Size returns the size of an item in bytes. It counts each number as if it had the maximum of 38 digits.
func (i Item) Size() int {
	n := 0
	for name, value := range i {
		n += len(name) + sizeOf(value)
	}
	return n
}

func sizeOf(value types.AttributeValue) int {
	switch v := value.(type) {
	case *types.AttributeValueMemberS:
		return len(v.Value)
	case *types.AttributeValueMemberB:
		return len(v.Value)
	case *types.AttributeValueMemberN:
		return numberSize
	case *types.AttributeValueMemberSS:
		n := collectionSize
		for _, text := range v.Value {
			n += elementSize + len(text)
		}
		return n
	case *types.AttributeValueMemberNS:
		return collectionSize + len(v.Value)*(elementSize+numberSize)
	case *types.AttributeValueMemberM:
		return collectionSize + elementSize*len(v.Value) + Item(v.Value).Size()
	case *types.AttributeValueMemberL:
		n := collectionSize
		for _, element := range v.Value {
			n += elementSize + sizeOf(element)
		}
		return n
	}
	return flagSize
}
