// Package featuretype manages the feature toggle types: it lists them (contract section 4.2) and changes a type's
// expected lifetime (contract section 4.3).
//
// A type's lifetime determines when its toggles become potentially stale. Setting it is one write, even if it is the
// current one; the table's stream then triggers the re-evaluation (pkg/background/staleness).
package featuretype

import "toggleadmin/pkg/platform/apierror"

// notFound returns the error if there is no type with the id.
func notFound(id string) error {
	return apierror.Errorf(apierror.NotFound, "There is no feature type with the id %q.", apierror.Echo(id))
}
