// Package project reads the projects: the labels that toggles have, and the default project.
package project

// Project is a project with its number of toggles, without archived ones.
type Project struct {
	ID       string
	Features int
}
