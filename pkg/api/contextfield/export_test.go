package contextfield

// CheckSizes and SizeOf are what writes check.
var (
	CheckSizes = checkSizes
	SizeOf     = sizeOf
)
