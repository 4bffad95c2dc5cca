package access

import (
	"context"
	"errors"
	"slices"
	"sync"
)

// requestReader reads each project, and the list of all, once. It contains the projects that a request has read.
type requestReader struct {
	Reader
	lock sync.Mutex
	read map[string]*Project
	all  []*Project // nil: not read yet
}

// Project implements Reader.
func (q *requestReader) Project(ctx context.Context, id string) (*Project, error) {
	q.lock.Lock()
	defer q.lock.Unlock()
	if project, ok := q.read[id]; ok {
		return project, nil
	}
	project, err := q.Reader.Project(ctx, id)
	if err == nil {
		q.read[id] = project
	}
	return project, err
}

// Projects implements Reader.
func (q *requestReader) Projects(ctx context.Context) (all []*Project, err error) {
	q.lock.Lock()
	defer q.lock.Unlock()
	if q.all == nil {
		q.all, err = q.Reader.Projects(ctx)
		for _, project := range q.all {
			q.read[project.ID] = project
		}
	}
	return slices.Clone(q.all), err
}

// CustomRoles implements Reader.
func (q *requestReader) CustomRoles(ctx context.Context, ids []Role) (CustomRoles, error) {
	if len(ids) == 0 {
		return nil, nil //nolint:nilnil // no roles
	}
	return q.Reader.CustomRoles(ctx, ids)
}

// noReader is for a context without projects, which is a defect of the program.
type noReader struct{}

var errNoProjects = errors.New("the context contains no projects")

func (noReader) Project(context.Context, string) (*Project, error) { return nil, errNoProjects }
func (noReader) Projects(context.Context) ([]*Project, error)      { return nil, errNoProjects }
func (noReader) CustomRoles(context.Context, []Role) (CustomRoles, error) {
	return nil, errNoProjects
}
