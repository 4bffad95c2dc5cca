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

// Resources lists the resources of the stack and of those that it nests, whose logical ids differ.
func (s *Stack) Resources(ctx context.Context) (Resources, error) {
	found := Resources{}
	return found, found.list(ctx, cloudformation.NewFromConfig(s.Config), s.Name)
}

// list adds the resources of a stack, given by its name or id.
func (r Resources) list(ctx context.Context, client *cloudformation.Client, stack string) error {
	pages := cloudformation.NewListStackResourcesPaginator(client,
		&cloudformation.ListStackResourcesInput{StackName: &stack})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return fmt.Errorf("list the resources of the stack: %w", err)
		}
		for _, summary := range page.StackResourceSummaries {
			kind, id := aws.ToString(summary.ResourceType), aws.ToString(summary.PhysicalResourceId)
			if r[kind] == nil {
				r[kind] = map[string]string{}
			}
			r[kind][aws.ToString(summary.LogicalResourceId)] = id
			if kind == "AWS::CloudFormation::Stack" && id != "" {
				if err := r.list(ctx, client, id); err != nil {
					return err
				}
			}
		}
	}
	return nil
}
