//go:build !linux

package engine

import "syscall"

// childAttributes: only Linux can end a child with its parent, and only there is the engine published.
func childAttributes() *syscall.SysProcAttr { return nil }
