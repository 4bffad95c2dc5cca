// Package snapshot is the form in which applications receive toggles: the state of one environment, as Unleash's
// client API delivers it, and the versions of its parts. It is pure: it reads neither a clock nor a table.
//
// pkg/background/compiler builds and stores snapshots. pkg/delivery/client delivers them.
package snapshot
