// SPDX-License-Identifier: Apache-2.0
//
// Goroutines whose stacks grow and move while functions of theirs are on them, and which threads
// hand to one another. Speaks as target.h says. --goroutines N (32), --seconds N (0: one round).
package main

import (
	"bufio"
	"flag"
	"fmt"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

var calls, leaves, wrong int64

//go:noinline
func leaf(x int) int {
	return x + 1
}

// Each level holds 512 bytes, so that depths of some hundreds grow the stack several times.
//
//go:noinline
func deep(levels int, x int) int {
	atomic.AddInt64(&calls, 1)
	var pad [64]int
	pad[levels&63] = x
	if levels == 0 {
		atomic.AddInt64(&leaves, 1)
		return leaf(x)
	}
	if levels%16 == 0 {
		runtime.Gosched()
	}
	result := deep(levels-1, x+1)
	return result + pad[levels&63] - x
}

//go:noinline
func broken(x int) int {
	if x%2 == 0 {
		panic("planned")
	}
	return x
}

//go:noinline
func guarded(x int) (result int) {
	defer func() {
		if recover() != nil {
			result = -x
		}
	}()
	return broken(x)
}

func round(goroutines int) {
	var wait sync.WaitGroup
	for i := 0; i < goroutines; i++ {
		wait.Add(1)
		go func(i int) {
			defer wait.Done()
			levels := 10 * i
			if deep(levels, i) != i+levels+1 {
				atomic.AddInt64(&wrong, 1)
			}
			want := i
			if i%2 == 0 {
				want = -i
			}
			if guarded(i) != want {
				atomic.AddInt64(&wrong, 1)
			}
		}(i)
	}
	wait.Wait()
	runtime.GC()
}

func main() {
	goroutines := flag.Int("goroutines", 32, "of each round")
	seconds := flag.Int("seconds", 0, "how long rounds go on")
	flag.Parse()
	input := bufio.NewReader(os.Stdin)
	fmt.Printf("{\"ready\":%d}\n", os.Getpid())
	if _, err := input.ReadString('\n'); err != nil {
		return
	}
	end := time.Now().Add(time.Duration(*seconds) * time.Second)
	rounds := 0
	for {
		round(*goroutines)
		rounds++
		if !time.Now().Before(end) {
			break
		}
	}
	fmt.Printf("{\"rounds\":%d,\"calls\":%d,\"leaves\":%d,\"wrong\":%d}\n", rounds, calls, leaves, wrong)
	fmt.Printf("{\"end\":true}\n")
	input.ReadString('\n')
}
