package main

import (
	"context"
	"fmt"
	"path/filepath"
	"time"
)

// measureStart times `make run` on a warm build, without and with data, and reads its memory.
func measureStart(ctx context.Context, o options) {
	var first, again []time.Duration
	var memory []float64
	for round := range max(o.Rounds, 5) {
		folder := filepath.Join(o.disk, fmt.Sprint("start", round))
		s := startService(ctx, o, folder)
		first = append(first, s.ready)
		s.stop()
		s = startService(ctx, o, folder)
		again = append(again, s.ready)
		memory = append(memory, memoryMB(s.command.Process.Pid, "VmRSS"))
		s.stop()
	}
	printTable("Start of `make run`", "  | ms | goal ms", [][]any{
		{"first start: tables and seed are made", median(first), 1000},
		{"with data", median(again), 300},
		{"resident memory, gateway and functions (MB)", median(memory), ""},
	}, "From the start of the built program to its line `ready`; median of %d starts.", len(first))
}
