package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"a2atap/proxy/must"
)

// program returns a way as a program.
func (w *way) program() *process { return &process{addr: w.addr, command: w.command, way: w} }

// buildProgram builds a2atap as users have it and returns its path.
func buildProgram(b *testing.B) string {
	path := filepath.Join(b.TempDir(), "a2atap")
	if out, err := exec.Command("go", "build", "-o", path, "a2atap/cmd/a2atap").CombinedOutput(); err != nil {
		b.Fatalf("build a2atap: %v\n%s", err, out)
	}
	return path
}

// A process is a proxy that runs as a process of its own, seen from outside: a2atap, or a way.
type process struct {
	addr     string
	command  *exec.Cmd
	way      *way          // nil for a2atap
	output   *bufio.Reader // of a2atap
	messages *bytes.Buffer // a2atap's messages, in addition to its output
}

// startRecord starts "a2atap record", with all its defaults unless options disable them.
func startRecord(b *testing.B, path, agent, folder string) *process {
	p := &process{messages: &bytes.Buffer{}}
	p.command = exec.Command(path, "record", "--agent", "booker=http://"+agent+"/rpc",
		"-o", filepath.Join(folder, "c.a2atap"), "--format", "json", "--quiet")
	p.command.Env = append(os.Environ(), "HOME="+folder, "XDG_CONFIG_HOME="+folder)
	p.command.Stderr = p.messages
	out := must.Get(p.command.StdoutPipe())(b)
	must.Do(b, p.command.Start())
	p.output = bufio.NewReader(out)
	var first struct{ URL string }
	line, err := p.output.ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, &first)
	}
	if err != nil {
		b.Fatalf("start a2atap record: %v\n%s", err, p.messages)
	}
	p.addr = strings.TrimSuffix(strings.TrimPrefix(first.URL, "http://"), "/rpc")
	return p
}

var notRecorded = regexp.MustCompile(`NOT recorded: ([0-9,]+) exchange`)

// stop ends the program. It returns how many exchanges it did not record; findings are an error, since the traffic has
// no fault.
func (p *process) stop(b *testing.B) (lost int) {
	if p.way != nil {
		return int(p.way.stop(b).Lost)
	}
	must.Do(b, p.command.Process.Signal(syscall.SIGTERM))
	for {
		line, err := p.output.ReadBytes('\n')
		if err == io.EOF {
			break
		}
		var said struct{ Type string }
		if err == nil {
			err = json.Unmarshal(line, &said)
		}
		must.Do(b, err)
		if said.Type != "verdict" {
			b.Errorf("a2atap found something in traffic that has no fault: %.300s", line)
		}
	}
	must.Do(b, p.command.Wait())
	if m := notRecorded.FindSubmatch(p.messages.Bytes()); m != nil {
		lost, _ = strconv.Atoi(strings.ReplaceAll(string(m[1]), ",", ""))
	}
	return lost
}

// processes returns the process of the program, and those that it has started.
func (p *process) processes() ([]int, error) {
	pid := p.command.Process.Pid
	children, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	if err != nil {
		return nil, fmt.Errorf("read what a process uses, as Linux tells it: %w", err)
	}
	all := []int{pid}
	for child := range strings.FieldsSeq(string(children)) {
		n, err := strconv.Atoi(child)
		if err != nil {
			return nil, err
		}
		all = append(all, n)
	}
	return all, nil
}

// clockTick is the unit in which Linux tells processor time: sysconf(_SC_CLK_TCK), which is 100 on all its platforms.
const clockTick = 10 * time.Millisecond

// cpu returns the processor time that the program has used so far, in steps of 10 ms.
func (p *process) cpu(b *testing.B) (used time.Duration) {
	pids := must.Get(p.processes())(b)
	for _, pid := range pids {
		stat := must.Get(os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)))(b)
		_, rest, _ := bytes.Cut(stat, []byte(") ")) // the name before it may hold blanks
		fields := bytes.Fields(rest)
		for _, field := range fields[11:13] { // user and system time: fields 14 and 15 of proc(5)
			ticks := must.Get(strconv.Atoi(string(field)))(b)
			used += time.Duration(ticks) * clockTick
		}
	}
	return used
}

// settle waits until the program has done what it still had to do after a load, and returns the processor time that it
// has used so far.
func (p *process) settle(b *testing.B) time.Duration {
	const quiet = 200 * time.Millisecond
	used := p.cpu(b)
	for deadline := time.Now().Add(time.Minute); ; {
		<-time.After(quiet) // it is another process: nothing tells that it is idle but the time that it uses
		now := p.cpu(b)
		if now-used <= clockTick {
			return now
		}
		if time.Now().After(deadline) {
			b.Fatalf("%s is still at work a minute after the load", p.command.Path)
		}
		used = now
	}
}

// memory returns the proportional set size in bytes: all resident pages, mapped files included, shared ones by their
// part.
func (p *process) memory() (size int64, err error) {
	pids, err := p.processes()
	if err != nil {
		return 0, err
	}
	for _, pid := range pids {
		rollup, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
		if err != nil {
			return 0, err
		}
		_, rest, _ := strings.Cut(string(rollup), "\nPss:")
		var kib int64
		if _, err := fmt.Sscan(rest, &kib); err != nil {
			return 0, fmt.Errorf("read the memory of process %d: %w", pid, err)
		}
		size += kib << 10
	}
	return size, nil
}

// machineBusy returns the processor time that all processes of the machine have used so far.
func machineBusy(b *testing.B) (used time.Duration) {
	stat := must.Get(os.ReadFile("/proc/stat"))(b)
	line, _, _ := strings.Cut(string(stat), "\n")
	for i, field := range strings.Fields(line)[1:] {
		const idle, iowait, guest = 3, 4, 8
		ticks := must.Get(strconv.Atoi(field))(b)
		if i != idle && i != iowait && i < guest {
			used += time.Duration(ticks) * clockTick
		}
	}
	return used
}
