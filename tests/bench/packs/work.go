// SPDX-License-Identifier: Apache-2.0
//
// Fixed work for Go: short-lived objects, goroutines, channels. Writes the CPU time it took, in nanoseconds, to the file it
// is given.
package main

import (
	"fmt"
	"os"
	"sort"
	"syscall"
)

type item struct {
	id   int
	name string
	tags []int
}

func turn() int {
	var items []*item
	byName := map[string]*item{}
	for i := 0; i < 30000; i++ {
		made := &item{i, fmt.Sprint("n", i), []int{i, i + 1}}
		items = append(items, made)
		byName[made.name] = made
	}
	sort.Slice(items, func(a, b int) bool { return items[a].id > items[b].id })
	return len(byName) + items[0].id
}

func cpuNs() int64 {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err)
	}
	return usage.Utime.Nano() + usage.Stime.Nano()
}

func main() {
	begin := cpuNs()
	totals := make(chan int)
	for i := 0; i < 40; i++ {
		go func() { totals <- turn() }()
	}
	sum := 0
	for i := 0; i < 40; i++ {
		sum += <-totals
	}
	used := cpuNs() - begin
	if sum == 0 || os.WriteFile(os.Args[1], []byte(fmt.Sprintln(used)), 0o600) != nil {
		os.Exit(1)
	}
}
