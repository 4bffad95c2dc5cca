package access

import "time"

// Protection is what changes in an environment of a project need besides a permission. The zero value is nothing.
type Protection struct {
	ChangeRequests    bool    // they need a change request
	RequiredApprovals int64   // of a change request; 0: what the environment requires, at least 1
	ForbidsTurningOff bool    // turning a toggle off needs the same as any other change
	Freeze            *Freeze // nil: none
}

// Freeze is a time in which an environment does not change.
type Freeze struct {
	From   time.Time `dynamodbav:"from"`  // inclusive
	Until  time.Time `dynamodbav:"until"` // exclusive
	Reason string    `dynamodbav:"reason"`
}

// Covers reports whether a time is in the freeze. A nil Freeze covers none.
func (f *Freeze) Covers(at time.Time) bool {
	return f != nil && !at.Before(f.From) && at.Before(f.Until)
}

// ProtectionOf returns the protection of an environment of the project. A project that does not exist is nil.
func (project *Project) ProtectionOf(environment string) Protection {
	if project == nil {
		return Protection{}
	}
	return project.Protections[environment]
}
