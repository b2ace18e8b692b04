// Package paralleltest lets tests that wait run in parallel.
package paralleltest

import (
	"flag"
	"runtime"
	"strconv"
)

// AtOnce lets n tests of this process run at the same time, where that is more than there are processors and the
// command does not say how many: most of what they do is to wait. It is for TestMain, and parses the flags.
func AtOnce(n int) {
	flag.Parse()
	chosen := false
	flag.Visit(func(f *flag.Flag) { chosen = chosen || f.Name == "test.parallel" })
	if chosen || runtime.GOMAXPROCS(0) >= n {
		return
	}
	if err := flag.Set("test.parallel", strconv.Itoa(n)); err != nil {
		panic(err) // the flag is there in every test
	}
}
