package dynamo

import "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

// Actions are the actions of a transaction. Each has a name, by which its failure is found. The zero value has none.
type Actions struct {
	list  []types.TransactWriteItem
	names []string
}

// Add adds actions under a name.
func (a *Actions) Add(name string, actions ...types.TransactWriteItem) {
	for _, action := range actions {
		a.list = append(a.list, action)
		a.names = append(a.names, name)
	}
}

// List returns the actions in the order in which they were added.
func (a *Actions) List() []types.TransactWriteItem { return a.list }

// Failed returns the failed conditions among the failures of the transaction, which has exactly these actions, by the
// names of the actions. If several actions have a name, it is the failure of the last one.
func (a *Actions) Failed(failures []Failure) map[string]Failure {
	failed := map[string]Failure{}
	for i, f := range failures {
		if f.Failed {
			failed[a.names[i]] = f
		}
	}
	return failed
}
