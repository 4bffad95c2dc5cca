package samtemplate

import "slices"

// readRole reads the role of a function: its logical id and what its own policies, and those that are attached to it, let it do. A managed
// policy is not known: what it grants would have to be repeated here.
func readRole(d *decoder, r *resolver, function *object, arn string) (string, []Statement) {
	role := r.byARN(typeRole, "Arn", arn)
	if role == nil {
		d.fail(function.n, "Role: %q is no role of this template", arn)
		return "", nil
	}
	o := d.object(role.properties)
	o.need("AssumeRolePolicyDocument")
	o.notPlayed("AssumeRolePolicyDocument", "Description", "MaxSessionDuration", "Path", "PermissionsBoundary", "RoleName", "Tags")
	var statements []Statement
	for _, item := range o.list("Policies") {
		policy := d.object(item)
		policy.notPlayed("PolicyName")
		statements = append(statements, readPolicy(d, policy.need("PolicyDocument"))...)
		policy.done()
	}
	o.done()
	for _, attached := range r.order {
		if made, err := r.made(attached); attached.typ != typePolicy || err != nil || !made {
			continue
		}
		policy := d.object(attached.properties)
		if slices.Contains(policy.texts("Roles"), role.id) {
			statements = append(statements, readPolicy(d, policy.need("PolicyDocument"))...)
		}
	}
	return role.id, statements
}

// readPolicy reads an inline policy document. SAM's policy templates and managed policies are not known: what they grant would have to
// be repeated here.
func readPolicy(d *decoder, n *node) []Statement {
	if n.kind != dict {
		d.fail(n, "only inline policy documents are known, not %s", n.what())
		return nil
	}
	o := d.object(n)
	o.notPlayed("Version")
	items := o.list("Statement")
	o.done()
	if len(items) == 0 {
		d.fail(n, "Statement must be a list with an item at least")
	}
	statements := make([]Statement, 0, len(items))
	for _, item := range items {
		s := d.object(item)
		statement := Statement{Effect: s.needText("Effect"), Actions: s.texts("Action"), Resources: s.texts("Resource")}
		s.notPlayed("Sid")
		s.done()
		if !slices.Contains([]string{"Allow", "Deny"}, statement.Effect) {
			d.fail(item, "the effect %q is not known", statement.Effect)
		}
		if len(statement.Actions) == 0 || len(statement.Resources) == 0 {
			d.fail(item, "Action and Resource must name something")
		}
		statements = append(statements, statement)
	}
	return statements
}
