// Package sdk contains tests that run SDKs of Unleash and providers of OpenFeature, unchanged, against the local service.
// Each is used by a small program in its language, in the folders below. scripts/test-sdk.sh installs them.
package sdk
