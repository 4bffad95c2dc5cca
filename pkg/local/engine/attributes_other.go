//go:build !linux

package engine

import "syscall"

// childAttributes keep a terminal's Ctrl-C from the engine. Only Linux can end a child with its parent. Elsewhere the
// next Start ends it.
func childAttributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
