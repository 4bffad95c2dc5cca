package main

import "fmt"

type evaluateCmd struct {
	apiOptions
	toggleInEnvironment

	Context map[string]string `mapsep:"," placeholder:"FIELD=VALUE,…" help:"Fields of the context, such as userId=7,country=NO. A comma in a value is written as \\,. Repeat for more."`
}

// Validate rejects a value without the name of its field.
func (c *evaluateCmd) Validate() error {
	if value, sent := c.Context[""]; sent {
		return fmt.Errorf("--context: %q has no field: use FIELD=VALUE", "="+value)
	}
	return nil
}

func (c *evaluateCmd) Run(s *session, o manager) error {
	result, err := o.Evaluate(s.step(), c.Name, c.Environment, c.Context)
	if err != nil {
		return err
	}
	if s.JSON {
		return printJSON(s.out, result)
	}
	for _, line := range explanationOf(result.Name, result.Environment, result.Explanation) {
		if _, err := fmt.Fprintln(s.out, printable(line)); err != nil {
			return err
		}
	}
	return nil
}
