package execmodel

import "syscall"

// endWithParent makes the kernel kill the process when this one ends.
func endWithParent(a *syscall.SysProcAttr) { a.Pdeathsig = syscall.SIGKILL }
