package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// memoryMB reads a figure of a process's memory: VmRSS is the resident memory, VmHWM its peak.
func memoryMB(pid int, name string) float64 {
	_, after, _ := strings.Cut(string(must(os.ReadFile(fmt.Sprintf("/proc/%d/status", pid)))), name+":")
	var kB float64
	must(fmt.Sscan(after, &kB))
	return kB / 1024
}

// cpuTime reads how long a process's threads have run.
func cpuTime(pid int) (sum time.Duration) {
	for _, file := range must(filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))) {
		var running time.Duration
		must(fmt.Sscan(string(must(os.ReadFile(file))), &running))
		sum += running
	}
	return sum
}
