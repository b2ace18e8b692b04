package main

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// A costPart is a part of the recorder, and how the calls are named that it is made of.
type costPart struct {
	name  string
	calls *regexp.Regexp
}

// costParts are all parts. A sample of the processor belongs to the first one that has a call anywhere in its stack.
var costParts = []costPart{
	{"garbage collection", regexp.MustCompile(`runtime\.(gcBgMarkWorker|gcAssistAlloc|gcStart|gcMarkTermination|bgsweep|bgscavenge)`)},
	{"the rules", regexp.MustCompile(`a2atap/analyzer/engine\.\(\*Engine\)`)},
	{"reading the store for the rules", regexp.MustCompile(`a2atap/analyzer/engine\.`)},
	{"hiding secrets, parsing and describing", regexp.MustCompile(`a2atap/proxy/capture/redact\.`)},
	{"the store", regexp.MustCompile(`a2atap/proxy/capture/bolt`)},
	{"creating steps", regexp.MustCompile(`a2atap/proxy/recording\.`)},
	{"the relay, including its system calls", regexp.MustCompile(`a2atap/proxy`)},
	{"scheduling, and the rest", regexp.MustCompile(``)},
}

// printParts prints which part of the recorder takes how much of its processor time, under sixteen connections.
func printParts(b *testing.B, o *origin) {
	file := filepath.Join(b.TempDir(), "profile")
	b.Setenv("BENCHWAY_PROFILE", file)
	w := startWay(b, "record", o.addr, b.TempDir())
	c := &cell{length: 5 * time.Second}
	unary(16, 900)(b, o, w.addr, c)
	c.wayCost = w.stop(b)
	traces, err := exec.Command("go", "tool", "pprof", "-traces", "-unit", "us", file+".record").Output()
	if err != nil {
		b.Fatalf("read the profile: %v", err)
	}
	took, all := partsOf(string(traces))
	fmt.Print("\n| part | of the processor time | µs an exchange |\n|---|---|---|\n")
	for _, p := range costParts {
		part := took[p.name] / all
		fmt.Printf("| %s | %.0f %% | %.1f |\n", p.name, 100*part, part*c.cost())
	}
}

// partsOf returns how much each part took of the processor, and all together, by what pprof prints of a profile's
// stacks.
func partsOf(traces string) (took map[string]float64, all float64) {
	took = make(map[string]float64)
	for stack := range strings.SplitSeq(traces, "\n-----------+") {
		_, stack, _ = strings.Cut(stack, "\n")
		var spent float64
		if _, err := fmt.Sscanf(stack, "%fus", &spent); err != nil {
			continue // the lines above the first stack
		}
		i := slices.IndexFunc(costParts, func(p costPart) bool { return p.calls.MatchString(stack) })
		took[costParts[i].name] += spent
		all += spent
	}
	return took, all
}
