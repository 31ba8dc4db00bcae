// SPDX-License-Identifier: Apache-2.0
//
// Collects garbage, starts goroutines and panics, and prints what Go's own counters say of it:
// {"collections":N,"forced":N,"all_collections":N,"memory_reads":N,"panics":N,"goroutines":N,
// "function":PC}. All but "all_collections" count from the line it waits for, before which no
// collection is left running; see target.h.
package main

import (
	"bufio"
	"fmt"
	"os"
	"reflect"
	"runtime"
	"runtime/debug"
	"sync"
)

const (
	forced     = 5
	panics     = 3
	goroutines = 40
)

var (
	kept []byte
	wait sync.WaitGroup
)

//go:noinline
func work() {
	wait.Done()
}

//go:noinline
func recovered() {
	defer func() { _ = recover() }()
	panic("planned")
}

func main() {
	debug.SetGCPercent(-1)
	runtime.GC()
	input := bufio.NewReader(os.Stdin)
	fmt.Printf("{\"ready\":%d}\n", os.Getpid())
	if _, err := input.ReadString('\n'); err != nil {
		return
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	debug.SetGCPercent(50)
	for i := 0; i < 10000; i++ {
		kept = make([]byte, 10000)
	}
	// One that allocation began may still go on: the first forced one waits for it.
	debug.SetGCPercent(-1)
	for i := 0; i < forced; i++ {
		runtime.GC()
	}
	for i := 0; i < goroutines; i++ {
		wait.Add(1)
		go work()
	}
	wait.Wait()
	for i := 0; i < panics; i++ {
		recovered()
	}
	runtime.ReadMemStats(&after)
	fmt.Printf("{\"collections\":%d,\"forced\":%d,\"all_collections\":%d,\"memory_reads\":2,"+
		"\"panics\":%d,\"goroutines\":%d,\"function\":%d}\n",
		after.NumGC-before.NumGC, after.NumForcedGC-before.NumForcedGC, after.NumGC,
		panics, goroutines, reflect.ValueOf(work).Pointer())
	_, _ = input.ReadString('\n')
}
