package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// measureStart times `make run` on a warm build, without and with data, and reads its memory.
func measureStart(ctx context.Context, o options, work string) error {
	binary, err := buildLocal(ctx, work)
	if err != nil {
		return err
	}
	var first, again []time.Duration
	var gateway []float64
	for round := range max(o.Rounds, 5) {
		dataDir := filepath.Join(work, "start"+strconv.Itoa(round))
		for _, times := range []*[]time.Duration{&first, &again} {
			s, err := startLocal(ctx, binary, dataDir)
			if err != nil {
				return err
			}
			*times = append(*times, s.Ready)
			if times == &again {
				gateway = append(gateway, residentMB(s.command.Process.Pid))
			}
			if err := s.stop(); err != nil {
				return err
			}
		}
	}
	printTable("Start of `make run`",
		fmt.Sprintf("From the start of the built program to its line `ready`; median of %d starts.", len(first)),
		[]string{"", "ms", "goal ms"}, [][]string{
			{"first start: tables and seed are made", milliseconds(median(first)), "1000"},
			{"with data", milliseconds(median(again)), "300"},
			{"resident memory, gateway and functions (MB)", fmt.Sprintf("%.1f", median(gateway)), ""},
		})
	return nil
}

// residentMB reads a process's resident memory; 0 if it cannot.
func residentMB(pid int) float64 { return statusMB(pid, "VmRSS:") }

// peakMB reads the highest that a process's resident memory was, since it was reset; 0 if it cannot.
func peakMB(pid int) float64 { return statusMB(pid, "VmHWM:") }

func statusMB(pid int, name string) float64 {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(status)) {
		if fields := strings.Fields(line); len(fields) > 1 && fields[0] == name {
			kB, _ := strconv.ParseFloat(fields[1], 64)
			return kB / 1024
		}
	}
	return 0
}

// cpuTime reads how long a process's threads have run.
func cpuTime(pid int) (time.Duration, error) {
	stats, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
	if err != nil || len(stats) == 0 {
		return 0, fmt.Errorf("no scheduler statistics of process %d", pid)
	}
	var sum time.Duration
	for _, file := range stats {
		text, err := os.ReadFile(file)
		if err != nil {
			return 0, err
		}
		running, _, _ := strings.Cut(string(text), " ")
		nanoseconds, err := strconv.ParseInt(running, 10, 64)
		if err != nil {
			return 0, err
		}
		sum += time.Duration(nanoseconds)
	}
	return sum, nil
}
