package installation

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
)

// Resources are the resources of a stack: type → logical id → physical id.
type Resources map[string]map[string]string

// IDs returns the physical ids of a type, ordered by logical id.
func (r Resources) IDs(kind string) []string {
	var all []string
	for _, logical := range slices.Sorted(maps.Keys(r[kind])) {
		all = append(all, r[kind][logical])
	}
	return all
}

// Resources lists the resources of the stack.
func (s *Stack) Resources(ctx context.Context) (Resources, error) {
	found := Resources{}
	pages := cloudformation.NewListStackResourcesPaginator(cloudformation.NewFromConfig(s.Config),
		&cloudformation.ListStackResourcesInput{StackName: &s.Name})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, fmt.Errorf("list the resources of the stack: %w", err)
		}
		for _, r := range page.StackResourceSummaries {
			kind := aws.ToString(r.ResourceType)
			if found[kind] == nil {
				found[kind] = map[string]string{}
			}
			found[kind][aws.ToString(r.LogicalResourceId)] = aws.ToString(r.PhysicalResourceId)
		}
	}
	return found, nil
}
