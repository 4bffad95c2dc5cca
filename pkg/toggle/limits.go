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

	// MaxContextFields and MaxSegments are the maximum numbers of context fields and segments of a toggle. A transaction
	// has at most 100 actions, one for each of them whose use begins or ends.
	MaxContextFields = 40
	MaxSegments      = 20

	// The limits of strategies.
	MaxStrategies       = 30 // of a toggle in an environment
	MaxConstraints      = 30 // of a strategy
	MaxConstraintValues = 250
	MaxImportedValues   = 10_000 // of a constraint that comes from an import; a change must not make it longer
	MaxConstraintValue  = 100
	MaxStrategySegments = 5
	MaxTitle            = 200
	MaxPayload          = 10_000
)
