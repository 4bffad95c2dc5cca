package clienttoken

import (
	"slices"

	"toggleadmin/pkg/delivery/clienttokentable"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/jsonbody"
)

// maxList is the size limit of the list of all tokens, in bytes. Lambda's limit of a response is 6 MB. The rest is for
// the times of expiry and use, which can become longer after the check: at most 60 bytes for each token.
const maxList = 5_500_000

// checkSize returns an error of the kind NoAccess if the list of all tokens would be too large with next.
func checkSize(all []clienttokentable.Token, next clienttokentable.Token) error {
	size, err := jsonbody.SizeInResponse(newResponses(append(slices.Clone(all), next)))
	if err == nil && size > maxList {
		err = apierror.Errorf(apierror.NoAccess,
			"The list of all client tokens may have at most %d bytes. Delete tokens with many projects first.", maxList)
	}
	return err
}
