package segment

import (
	"fmt"
	"slices"

	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/jsonbody"
)

const (
	// maxBody is the size limit of a body, in bytes. The item of a segment is not larger than its body, and an item has at
	// most 400 KB.
	maxBody = 250_000

	// maxList is the size limit of the list of all segments, in bytes. Lambda's limit of a response is 6 MB. The rest is
	// for the numbers of toggles and projects, which can become longer after the check.
	maxList = 4_500_000
)

// checkSizes returns an error of the kind NoAccess if the list of all segments would be too large with next. A segment
// that does not make the list larger can always be written.
func checkSizes(all []Segment, next Segment) error {
	after := slices.DeleteFunc(slices.Clone(all), func(s Segment) bool { return s.ID == next.ID })
	size, err := sizeOf(append(after, next))
	if err != nil || size <= maxList {
		return err
	}
	before, err := sizeOf(all)
	if err == nil && size > before {
		err = apierror.Errorf(apierror.NoAccess,
			"The list of all segments may have at most %d bytes. Delete segments or constraints first.", maxList)
	}
	return err
}

// sizeOf returns the number of bytes of the list of segments in Lambda's response.
func sizeOf(all []Segment) (int, error) {
	size, err := jsonbody.SizeInResponse(responses(all, nil, inEveryProject))
	if err != nil {
		return 0, fmt.Errorf("encode the list of segments: %w", err)
	}
	return size, nil
}
