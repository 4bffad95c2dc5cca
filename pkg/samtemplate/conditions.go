package samtemplate

// conditions decides the template's conditions, each once.
type conditions struct {
	defined *node           // nil: the template has none
	decided map[string]bool // by name
	open    map[string]bool // being decided: meeting one again is a circle
}

func newConditions(defined *node) *conditions {
	return &conditions{defined: defined, decided: map[string]bool{}, open: map[string]bool{}}
}

// holds decides a condition by its name; at is where it is asked for.
func (c *conditions) holds(r *resolver, at *node, name string) (bool, error) {
	if value, ok := c.decided[name]; ok {
		return value, nil
	}
	if c.defined == nil || c.defined.fields[name] == nil {
		return false, at.errorf("there is no condition %q", name)
	}
	if c.open[name] {
		return false, at.errorf("the condition %s refers to itself", name)
	}
	c.open[name] = true
	value, err := c.decide(r, c.defined.fields[name])
	if err != nil {
		return false, err
	}
	c.decided[name] = value
	return value, nil
}

// all decides every condition, so that a broken one is found even where nothing uses it.
func (c *conditions) all(r *resolver) error {
	if c.defined == nil {
		return nil
	}
	for _, name := range c.defined.keys {
		if _, err := c.holds(r, c.defined.fields[name], name); err != nil {
			return err
		}
	}
	return nil
}

func (c *conditions) decide(r *resolver, n *node) (bool, error) {
	name, argument, ok := n.function()
	if !ok && n.kind == dict && len(n.keys) == 1 && n.keys[0] == "Condition" { // a function only here: policies have the same key
		name, argument, ok = "Condition", n.fields["Condition"], true
	}
	if !ok {
		return false, n.errorf("a condition wants Fn::Equals, Fn::Not, Fn::And, Fn::Or or Condition, not %s", n.what())
	}
	switch name {
	case "Condition":
		if argument.kind != scalar {
			return false, n.errorf("Condition wants a name, not %s", argument.what())
		}
		return c.holds(r, n, argument.text)
	case "Fn::Equals":
		return c.equal(r, n, argument)
	case "Fn::Not":
		if argument.kind != list || len(argument.items) != 1 {
			return false, n.errorf("Fn::Not wants a list of one condition")
		}
		value, err := c.decide(r, argument.items[0])
		return !value, err
	case "Fn::And", "Fn::Or":
		return c.combine(r, n, name == "Fn::And", argument)
	}
	return false, n.errorf("%s is no condition", name)
}

func (c *conditions) equal(r *resolver, n, argument *node) (bool, error) {
	if argument.kind != list || len(argument.items) != 2 {
		return false, n.errorf("Fn::Equals wants two values")
	}
	left, err := r.text(argument.items[0], "Fn::Equals")
	if err != nil {
		return false, err
	}
	right, err := r.text(argument.items[1], "Fn::Equals")
	if err != nil {
		return false, err
	}
	return left == right, nil
}

// combine decides And (all) or Or. Every part is looked at, so that a broken one is found.
func (c *conditions) combine(r *resolver, n *node, all bool, argument *node) (bool, error) {
	if argument.kind != list || len(argument.items) < 2 || len(argument.items) > 10 {
		return false, n.errorf("%s wants two to ten conditions", n.what())
	}
	result := all
	for _, item := range argument.items {
		value, err := c.decide(r, item)
		if err != nil {
			return false, err
		}
		if value != all {
			result = value
		}
	}
	return result, nil
}
