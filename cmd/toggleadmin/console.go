package main

import "fmt"

type consoleCmd struct{}

func (consoleCmd) Run(s *session) error {
	i, err := s.open()
	if err != nil {
		return err
	}
	address, err := i.ConsoleURL(s.step())
	if err != nil {
		return err
	}
	if s.JSON {
		return printJSON(s.out, map[string]string{"url": address})
	}
	fmt.Fprintln(s.out, address)
	return nil
}
