package tables

import (
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/samtemplate"
)

// compare says what of an existing table is not as the template has it: keys, and indexes with theirs.
func compare(table *samtemplate.Table, found *types.TableDescription) (differences []string) {
	kinds := map[string]string{}
	for _, a := range found.AttributeDefinitions {
		kinds[aws.ToString(a.AttributeName)] = string(a.AttributeType)
	}
	if has, want := keyText(found.KeySchema, kinds), wantText(table.Hash, table.Range); has != want {
		differences = append(differences, fmt.Sprintf("the key %s instead of %s", has, want))
	}
	for _, index := range table.Indexes {
		i := slices.IndexFunc(found.GlobalSecondaryIndexes, func(g types.GlobalSecondaryIndexDescription) bool {
			return aws.ToString(g.IndexName) == index.Name
		})
		if i < 0 {
			differences = append(differences, "no index "+index.Name)
			continue
		}
		has, want := indexText(&found.GlobalSecondaryIndexes[i], kinds), wantText(index.Hash, index.Range)+" "+index.Projection
		if has != want {
			differences = append(differences, fmt.Sprintf("the index %s on %s instead of %s", index.Name, has, want))
		}
	}
	return differences
}

func indexText(g *types.GlobalSecondaryIndexDescription, kinds map[string]string) string {
	text := keyText(g.KeySchema, kinds)
	if g.Projection != nil {
		text += " " + string(g.Projection.ProjectionType)
	}
	return text
}

// keyText is a key as text: (id S) or (userId N, id N).
func keyText(keys []types.KeySchemaElement, kinds map[string]string) string {
	var hash, sort samtemplate.Attribute
	for _, k := range keys {
		name := aws.ToString(k.AttributeName)
		if a := (samtemplate.Attribute{Name: name, Type: kinds[name]}); k.KeyType == types.KeyTypeHash {
			hash = a
		} else {
			sort = a
		}
	}
	return wantText(hash, sort)
}

func wantText(hash, sort samtemplate.Attribute) string {
	if sort.Name == "" {
		return fmt.Sprintf("(%s %s)", hash.Name, hash.Type)
	}
	return fmt.Sprintf("(%s %s, %s %s)", hash.Name, hash.Type, sort.Name, sort.Type)
}
