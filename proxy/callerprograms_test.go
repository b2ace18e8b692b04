package proxy

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"a2atap/proxy/capture"
	"a2atap/proxy/capture/capturetest"
	"a2atap/proxy/expect"
	"a2atap/proxy/must"
	"a2atap/proxy/recording"
)

// programMode is set for the test binary when it is a program that calls agents: to its name and what it is.
const programMode = "A2ATAP_TEST_CALLER"

func init() {
	if what := os.Getenv(programMode); what != "" {
		if err := runProgram(what); err != nil {
			fmt.Fprintln(os.Stderr, what+":", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
}

// runProgram runs one program. An agent or parent prints the address at which it listens. Every program reads the URL of
// a tap and makes many short connections to it, several at once; a parent has a child do that. The second line of its
// input lets its agent answer requests for /last. When its own calls have ended, the program prints a line. It listens
// until its input ends, since an agent that ended earlier could refuse the last request of another program.
func runProgram(what string) error {
	name, role, _ := strings.Cut(what, " ")
	answer := make(chan struct{})
	if role != "script" {
		agent := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			if strings.HasSuffix(r.URL.Path, "/last") {
				<-answer
			}
		}))
		defer agent.Close()
		fmt.Println(agent.URL)
	}
	in := bufio.NewReader(os.Stdin)
	line, err := in.ReadString('\n')
	if err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() {
		_, _ = in.ReadString('\n')
		close(answer)
		_, err := io.Copy(io.Discard, in)
		ended <- err
	}()
	if role == "parent" {
		child := exec.Command(os.Args[0])
		child.Env = append(os.Environ(), programMode+"="+name+" script")
		child.Stdin, child.Stderr = strings.NewReader(line), os.Stderr
		err = child.Run()
	} else if tap := strings.TrimSpace(line); tap != "" {
		err = callOften(tap + "/" + name)
	}
	fmt.Println("called")
	return errors.Join(err, <-ended)
}

// callOften makes many short connections, four at once, and a last one.
func callOften(url string) error {
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	get := func(path string) error {
		answer, err := client.Get(url + path)
		if err == nil {
			err = answer.Body.Close()
		}
		return err
	}
	const atOnce = 4
	failed := make(chan error, atOnce)
	for range atOnce {
		go func() {
			var err error
			for range 25 {
				err = errors.Join(err, get("/short"))
			}
			failed <- err
		}()
	}
	var err error
	for range atOnce {
		err = errors.Join(err, <-failed)
	}
	return errors.Join(err, get("/last"))
}

// A program is one that runs, to which lines are written.
type program struct {
	in  io.WriteCloser
	out *bufio.Reader
	end func()
}

func startProgram(t *testing.T, what string) program {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), programMode+"="+what, "GORACE=atexit_sleep_ms=10")
	cmd.Stderr = os.Stderr
	p := program{in: must.Get(cmd.StdinPipe())(t), out: bufio.NewReader(must.Get(cmd.StdoutPipe())(t))}
	must.Do(t, cmd.Start())
	p.end = sync.OnceFunc(func() { expect.OK(t, cmd.Wait()) })
	t.Cleanup(func() {
		p.in.Close()
		p.end()
	})
	return p
}

// TestCallersOfTwoPrograms has two programs that call agents over many short connections at once, with the same
// User-Agent. No exchange has the name of another program; it has its program's, or an anonymous one. Each program is
// named while its last connection is open.
func TestCallersOfTwoPrograms(t *testing.T) {
	for _, tt := range []struct {
		name    string
		planner string
		others  []string // booker, and maybe a script
		callers map[string]string
	}{
		{"two agents", "planner agent", []string{"booker agent"}, map[string]string{"planner": "planner", "booker": "booker"}},
		{"a child of an agent", "planner parent", []string{"booker agent"}, map[string]string{"planner": "planner", "booker": "booker"}},
		{"an agent and a script", "planner agent", []string{"booker agent", "curl script"}, map[string]string{"planner": "planner", "curl": "Go-http-client"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			programs := make(map[string]program)
			var urls []string
			for _, what := range append([]string{tt.planner}, tt.others...) {
				name, role, _ := strings.Cut(what, " ")
				p := startProgram(t, what)
				if role != "script" {
					urls = append(urls, strings.TrimSpace(must.Get(p.out.ReadString('\n'))(t)))
				}
				programs[name] = p
			}
			r := serveCallersOf(t, urls, recording.Options{}, func(*Proxy) {})
			for name, p := range programs {
				agent := "booker"
				if name == agent {
					agent = "planner"
				}
				tap := ""
				if tt.callers[name] != "" {
					tap = "http://" + r.proxy.tap(agent).Addr()
				}
				fmt.Fprintln(p.in, tap)
			}
			last, named := make(map[uint64]string), make(map[string]bool)
			capturetest.Until(t, r.memory, func(s capture.Step) bool {
				name := ""
				switch what := s.What.(type) {
				case capture.Opened:
					if program, isLast := strings.CutSuffix(pathOf(what.Head), "/last"); isLast {
						last[s.Seq], name = program, what.Client.Name
					}
				case capture.Fact:
					name = what.Client.Name
				}
				if program := last[s.Seq]; program != "" && name == tt.callers[program] {
					named[program] = true
				}
				return len(named) == len(tt.callers)
			})
			for _, p := range programs {
				fmt.Fprintln(p.in, "answer")
			}
			for _, p := range programs {
				must.Get(p.out.ReadString('\n'))(t)
			}
			for _, p := range programs {
				p.in.Close()
				p.end()
			}
			r.end()
			seen := 0
			for x, err := range r.memory.Exchanges(t.Context(), 1) {
				must.Do(t, err)
				program, _, _ := strings.Cut(pathOf(x.Request.Head), "/")
				if got := x.Client.Name; got != tt.callers[program] && !x.Client.Anonymous() {
					t.Errorf("exchange %d of %s is of %s (%s)", x.Seq, program, got, x.Client.How)
				}
				seen++
			}
			expect.Equal(t, "exchanges", 101*len(tt.callers), seen)
		})
	}
}

// pathOf returns the path in the head of a request, without its first slash.
func pathOf(head []byte) string {
	_, path, _ := strings.Cut(string(head), "/")
	path, _, _ = strings.Cut(path, " ")
	return path
}
