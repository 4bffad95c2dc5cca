package contextfield

import (
	"fmt"
	"slices"

	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/pkg/platform/jsonbody"
)

const (
	// maxBody is the size limit of the body of a creation and a replacement, in bytes: an item of the maximum size as
	// JSON, in which a byte has up to six characters. As a part of Lambda's event, which is at most 6 MB, it can have
	// twice the size.
	maxBody = 2_500_000

	// maxList is the size limit of the list of all fields, in bytes. Lambda's limit of a response is 6 MB. The rest is for
	// the numbers of toggles and projects, which can become longer after the check: at most 40 bytes for each field.
	maxList = 4_500_000
)

// CheckSize returns an error of the kind ContentTooLarge if the field is larger than an item of DynamoDB can be.
func (f ContextField) CheckSize() error {
	item := toItem(f)
	item[eventlog.AttributeEvent] = dynamo.N(0) // the write sets it
	if n := item.Size(); n > dynamo.MaxItem {
		return apierror.Errorf(apierror.ContentTooLarge,
			"The context field must not be larger than %d bytes; its size is %d bytes. "+
				"Shorten or delete legal values.", dynamo.MaxItem, n)
	}
	return nil
}

// checkSizes returns the error of CheckSize, or one of the kind NoAccess if the list of all fields would be too large
// with the field. A field that does not make the list larger can always be written. i is the index of the field that
// next replaces; -1: none.
func checkSizes(all []ContextField, i int, next ContextField) error {
	if err := next.CheckSize(); err != nil {
		return err
	}
	after := slices.Clone(all)
	if i >= 0 {
		after[i] = next
	} else {
		after = append(after, next)
	}
	size, err := sizeOf(after)
	if err != nil || size <= maxList {
		return err
	}
	before, err := sizeOf(all)
	if err == nil && size > before {
		err = apierror.Errorf(apierror.NoAccess,
			"The list of all context fields may have at most %d bytes. Delete fields or legal values first.", maxList)
	}
	return err
}

// sizeOf returns the number of bytes of the list of fields in Lambda's response.
func sizeOf(fields []ContextField) (int, error) {
	size, err := jsonbody.SizeInResponse(responses(fields, inEveryProject))
	if err != nil {
		return 0, fmt.Errorf("encode the list of context fields: %w", err)
	}
	return size, nil
}
