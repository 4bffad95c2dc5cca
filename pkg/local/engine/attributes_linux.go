package engine

import "syscall"

// childAttributes keep a terminal's Ctrl-C from the engine, which must outlive the requests in flight, and let Linux
// end it with its parent.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
}
