package main

import (
	"fmt"
	"io"
	"os/exec"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"
)

// screenLooks runs the inspector on a capture of growCapture, in a terminal of 80 columns, and returns how long each look
// took: from the start of the program, or from the key, until the screen shows what was asked for.
func screenLooks(b *testing.B, inspector *exec.Cmd, n int, task string) (looks []screenLook) {
	master, terminal := openTerminal(b, 24, 80)
	defer master.Close()
	p := &pseudoTerminal{keys: master, changed: make(chan struct{}, 1)}
	inspector.Stdin, inspector.Stdout, inspector.Stderr = terminal, terminal, terminal
	inspector.Env = append(inspector.Env, "TERM=xterm-256color")
	inspector.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	begin := time.Now()
	if err := inspector.Start(); err != nil {
		b.Fatal(err)
	}
	terminal.Close()
	var reading sync.WaitGroup
	reading.Go(func() { p.read(master) })
	look := func(name, keys, shows string) {
		if keys != "" {
			p.forget()
			begin = time.Now()
			if _, err := io.WriteString(p.keys, keys); err != nil {
				b.Fatal(err)
			}
		}
		p.matches(b, shows)
		looks = append(looks, screenLook{name, time.Since(begin)})
	}
	last := fmt.Sprintf(`> +%d \d\d:`, n)
	look("first screen", "", last)
	look("g", "g", `> +1 \d\d:`)
	look("G", "G", last)
	// The matches that are nearest to the end, more of them than stood on the screen before, and then the count of all.
	look("a rule", "frule:stream-closed-on-terminal\r", fmt.Sprintf(` %d\d \d\d:`, (n-101)/10))
	look("a rule, all counted", "", withCommas(n/10)+" of "+withCommas(n)+" exchanges")
	p.strike(b, "\x1b", "  "+withCommas(n)+" exchanges")
	look("a task", "ftask:"+task+"\r", ` \d of `+withCommas(n)+" exchanges")
	p.strike(b, "\x03", "")
	if err := inspector.Wait(); err != nil {
		b.Error(err)
	}
	reading.Wait()
	return looks
}

// withCommas writes a number as the inspector does.
func withCommas(n int) string {
	if n < 1000 {
		return strconv.Itoa(n)
	}
	return withCommas(n/1000) + fmt.Sprintf(",%03d", n%1000)
}
