package samtemplate

// keepRules holds the parameters against the template's rules: CloudFormation refuses a deployment that breaks one, with the text of the
// assertion.
func (r *resolver) keepRules(section *object) error {
	d := section.d
	for _, name := range section.n.keys {
		rule := d.object(section.n.fields[name])
		condition := rule.get("RuleCondition")
		assertions := rule.list("Assertions")
		rule.done()
		if d.err != nil {
			return d.err
		}
		binds := true
		if condition != nil {
			var err error
			if binds, err = r.decideRule(condition); err != nil {
				return err
			}
		}
		for _, item := range assertions {
			assertion := d.object(item)
			assert, text := assertion.need("Assert"), assertion.needText("AssertDescription")
			assertion.done()
			if d.err != nil {
				return d.err
			}
			holds, err := r.decideRule(assert)
			if err != nil {
				return err
			}
			if binds && !holds {
				return item.errorf("%s", text)
			}
		}
	}
	return nil
}

// decideRule decides a condition of a rule. Rules come before conditions and resources, and can refer to none of them.
func (r *resolver) decideRule(n *node) (bool, error) {
	return newConditions(nil).decide(r, n)
}
