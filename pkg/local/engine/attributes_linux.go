package engine

import "syscall"

// childAttributes put the engine into its own process group, so that Ctrl-C does not end it before the requests in
// progress, and make Linux end it with its parent.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
}
