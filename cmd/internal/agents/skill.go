package agents

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"

	"a2atap/cmd/internal/cli"
	"a2atap/cmd/internal/program"
	"a2atap/proxy/safetext"
	"a2atap/replay/refagent"
)

// leaveTime is how long a program may continue after the signal to end.
const leaveTime = time.Second

// maxLine is the maximum length of a program's output line in bytes.
const maxLine = 1 << 20

// skills parses the flags --skill: the program of each skill.
func skills(flags []string) (map[string]refagent.Skill, error) {
	list := make(map[string]refagent.Skill, len(flags))
	for _, flag := range flags {
		id, command, _ := strings.Cut(flag, "=")
		args := strings.Fields(command)
		if id == "" || len(args) == 0 {
			return nil, cli.Usage("--skill %q: write ID=PROGRAM, such as book='python3 book.py'", flag)
		}
		if list[id] != nil {
			return nil, cli.Usage("--skill %s is given twice", id)
		}
		if _, err := exec.LookPath(args[0]); err != nil {
			return nil, cli.Usage("--skill %s: %w", id, program.Cause(err))
		}
		list[id] = func(ctx context.Context, in refagent.Assignment, t *refagent.Turn) { work(ctx, args, in, t) }
	}
	return list, nil
}

// A task is the line that a program reads at its start.
type task struct {
	Skill     string `json:"skill"`
	TaskID    string `json:"taskId"`
	ContextID string `json:"contextId"`
	Turn      int    `json:"turn"`
	Text      string `json:"text"`
}

// A step is a line that a program writes.
type step struct {
	State    string   `json:"state"`
	Text     string   `json:"text"`
	Artifact *content `json:"artifact"`
}

type content struct {
	Name string          `json:"name"`
	Text string          `json:"text"`
	Data json.RawMessage `json:"data"`
	More bool            `json:"more"`
}

// work runs a program for a message, and applies its output to the task. It asks the program to end when the task is
// canceled or its turn is over, and kills it if it does not.
func work(ctx context.Context, args []string, in refagent.Assignment, t *refagent.Turn) {
	running, stop := context.WithCancel(ctx)
	defer stop()
	asked, err := json.Marshal(task{in.Skill, in.TaskID, in.ContextID, in.Turn, in.Text})
	if err != nil {
		panic(fmt.Sprintf("agents: %v", err)) // strings and a number
	}
	cmd := exec.CommandContext(running, args[0], args[1:]...)
	cmd.WaitDelay = leaveTime
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	var wrong error
	goesOn := true
	said := &lines{on: func(line []byte) {
		if goesOn {
			if goesOn, wrong = do(line, t); !goesOn {
				stop()
			}
		}
	}}
	complaint := &tail{}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(append(asked, '\n')), said, complaint
	err = cmd.Run()
	if goesOn {
		said.on(said.rest) // the last line needs no line end
	}
	switch {
	case ctx.Err() != nil: // canceled, or the agent ends
	case cmp.Or(wrong, said.long) != nil:
		t.Status("failed", "the program of skill "+in.Skill+" wrote a line that is not a step: "+cmp.Or(wrong, said.long).Error())
	case err != nil && goesOn:
		t.Status("failed", complaint.last("the program of skill "+in.Skill+": "+program.Cause(err).Error()))
	}
}

// do executes a line of output, and reports whether the turn continues.
func do(line []byte, t *refagent.Turn) (goesOn bool, err error) {
	if len(bytes.TrimSpace(line)) == 0 {
		return true, nil
	}
	var s step
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	if err := d.Decode(&s); err != nil {
		return false, fmt.Errorf("%q: %w", safetext.Short(string(line), mostQuoted), err)
	}
	if d.More() {
		return false, fmt.Errorf("%q: more than one object in a line", safetext.Short(string(line), mostQuoted))
	}
	if s.State == "" && s.Artifact == nil {
		s.Artifact = &content{Text: s.Text}
	}
	if a := s.Artifact; a != nil {
		name := a.Name
		name = cmp.Or(name, "result")
		if err := t.Artifact(refagent.Piece{Name: name, Text: a.Text, Data: a.Data, More: a.More}); err != nil {
			return false, err
		}
	}
	switch {
	case s.State == "":
		return true, nil
	case !slices.Contains(refagent.States(), s.State):
		return false, fmt.Errorf("%q: no state %q; use %s", safetext.Short(string(line), mostQuoted), s.State, strings.Join(refagent.States(), ", "))
	}
	return t.Status(s.State, s.Text), nil
}

// mostQuoted is the maximum number of bytes of a line that an error quotes.
const mostQuoted = 200

// lines cuts output into lines. Writing a line that is too long returns an error.
type lines struct {
	on   func(line []byte)
	rest []byte
	long error // a line was too long
}

// Write implements [io.Writer].
func (l *lines) Write(p []byte) (int, error) {
	l.rest = append(l.rest, p...)
	for {
		line, rest, ended := bytes.Cut(l.rest, []byte("\n"))
		if !ended {
			break
		}
		l.rest = rest
		l.on(line)
	}
	if len(l.rest) > maxLine {
		l.rest, l.long = nil, fmt.Errorf("a line of more than %d bytes", maxLine)
		return 0, l.long
	}
	return len(p), nil
}

// A tail stores the last line written, up to a limit.
type tail struct{ kept []byte }

// Write implements [io.Writer].
func (t *tail) Write(p []byte) (int, error) {
	const most = 4 << 10
	t.kept = append(t.kept, p...)
	t.kept = t.kept[max(0, len(t.kept)-most):]
	return len(p), nil
}

// last returns the last line, or otherwise without one.
func (t *tail) last(otherwise string) string {
	text := strings.TrimSpace(string(t.kept))
	if text = strings.TrimSpace(text[strings.LastIndexByte(text, '\n')+1:]); text == "" {
		return otherwise
	}
	return strings.ToValidUTF8(text, "�")
}
