// Package sdk contains tests that run SDKs of Unleash and providers of OpenFeature, unchanged, against the local service.
// Each is used by a small program in its language, in the folders below. Other tests send requests of applications through
// nginx as a shared cache. scripts/test-sdk.sh installs what they need.
package sdk
