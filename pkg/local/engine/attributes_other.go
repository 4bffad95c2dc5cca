//go:build !linux

package engine

import "syscall"

// childAttributes put the engine into its own process group, so that Ctrl-C does not end it. Only Linux can end a child
// with its parent; elsewhere the next Start ends it.
func childAttributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
