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

// inTerminal runs a command in a pseudo-terminal. It ends with ctrl-c, for which end waits.
func inTerminal(t testing.TB, command *exec.Cmd, rows, columns uint16) (p *pseudoTerminal, end func()) {
	t.Helper()
	master, terminal := openTerminal(t, rows, columns)
	p = &pseudoTerminal{keys: master, changed: make(chan struct{}, 1)}
	command.Stdin, command.Stdout, command.Stderr = terminal, terminal, terminal
	command.Env = append(command.Env, "TERM=xterm-256color")
	command.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	terminal.Close()
	var reading sync.WaitGroup
	reading.Go(func() { p.read(master) })
	return p, func() {
		p.strike(t, "\x03", "")
		if err := command.Wait(); err != nil {
			t.Error(err)
		}
		reading.Wait()
		master.Close()
	}
}

// screenLooks runs the inspector on a capture of growCapture, in a terminal of 80 columns, and returns how long each look
// took: from the start of the program, or from the key, until the screen shows what was asked for. A capture that was
// never judged gets the first look only.
func screenLooks(b *testing.B, inspector *exec.Cmd, n, streams int, task string, judged bool) (looks []screenLook) {
	begin := time.Now()
	p, end := inTerminal(b, inspector, 24, 80)
	defer end()
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
	first, last := `> +1 \d\d:`, fmt.Sprintf(`> +%d \d\d:`, n)
	look("first screen", "", first)
	if !judged {
		return looks
	}
	look("G", "G", last)
	look("g", "g", first)
	// The matches from the selected exchange on, more than fit on the screen before, and then the total count.
	look("a rule", "frule:stream-closed-on-terminal\r", `! +1\d\d \d\d:`)
	look("a rule, all counted", "", withCommas(streams)+" of "+withCommas(n)+" exchanges")
	p.strike(b, "\x1b", "  "+withCommas(n)+" exchanges")
	look("a task", "ftask:"+task+"\r", ` \d of `+withCommas(n)+" exchanges")
	return looks
}

// withCommas writes a number as the inspector does.
func withCommas(n int) string {
	if n < 1000 {
		return strconv.Itoa(n)
	}
	return withCommas(n/1000) + fmt.Sprintf(",%03d", n%1000)
}
