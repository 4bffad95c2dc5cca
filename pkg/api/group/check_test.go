package group_test

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/accesstable"
	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/test/helper/assert"
)

// What only one of two items has is taken away.
func TestConsistency(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for _, name := range []string{"a", "b"} {
		_, err := f.store.Create(t.Context(), accesstable.Group{Name: name, Members: []int64{1, 2}})
		assert.OK(t, err)
	}
	check := func() (texts []string) {
		_, found, err := f.store.Check(t.Context())
		assert.OK(t, err)
		for _, i := range found {
			texts = append(texts, i.Text)
			assert.OK(t, i.Repair(t.Context()))
		}
		return texts
	}
	assert.Equal(t, []string(nil), check())

	_, err := dynamo.Transact(t.Context(), f.Client, []types.TransactWriteItem{f.users.Leave(1, 1), f.users.Join(3, 2)})
	assert.OK(t, err)
	project := access.NewProject("p", "P")
	project.Users = map[int64][]access.Role{1: {access.RoleOwner}, 9: {access.RoleMember}}
	project.Groups = map[int64][]access.Role{2: {access.RoleReader}, 8: {access.RoleOwner}}
	f.PutProjects(t, project)
	f.Delete(t, f.Tables[accesstable.Table], accesstable.GroupKey(1))
	assert.Equal(t, []string{
		"the account 2 has the group 1, whose member it is not",
		"the account 3 has the group 2, whose member it is not",
		`the account 9, which does not exist, has roles in the project "p"`,
		`the group 8, which does not exist, has roles in the project "p"`,
		"what the authorizer knows of groups differs from the groups",
		`the name "A" is reserved for the group 1, which does not have it`,
	}, check())
	assert.Equal(t, []string(nil), check())

	f.Delete(t, f.Tables[user.Table], user.Key(2))
	_, err = dynamo.Transact(t.Context(), f.Client, []types.TransactWriteItem{f.users.Leave(1, 2)})
	assert.OK(t, err)
	assert.Equal(t, []string{
		"the group 2 has the member 1, who does not have the group",
		"the group 2 has the member 2, who does not have the group",
	}, check())
	assert.Equal(t, []string(nil), check())
	p, err := f.access.Project(t.Context(), "p")
	assert.OK(t, err)
	assert.Equal(t, map[int64][]access.Role{1: {access.RoleOwner}}, p.Users)
	assert.Equal(t, map[int64][]access.Role{2: {access.RoleReader}}, p.Groups)
}
