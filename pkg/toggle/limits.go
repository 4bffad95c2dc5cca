package toggle

import "math"

// The limits of the API. A text is measured in characters. The schemas of bodies have the same limits.
const (
	MaxName         = 100 // of a toggle, a project, a context field, and of the id of a type
	MaxText         = 255 // of the name of a type, and of a creator in another system
	MaxDescription  = 1000
	MaxLegalValue   = 255
	MaxLegalValues  = 1000 // of a context field
	MaxLifetimeDays = math.MaxInt32

	// MaxContextFields is the maximum number of context fields of a toggle. A transaction has at most 100 actions: one for
	// each field before and after it, and six for the toggle, its type and its events.
	MaxContextFields = 47
)
