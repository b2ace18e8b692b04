package playback

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
	"a2atap/proxy/injection"
	"a2atap/proxy/spelling"
	"a2atap/replay/live"
)

// String says what the fault does, such as "GetTask, request 2: answered with HTTP 503".
func (f Disruption) String() string {
	what := "the connection is closed without an answer"
	switch {
	case f.Delay > 0:
		what = "answered " + f.Delay.String() + " later"
	case f.Error != nil:
		what = "answered with " + f.Error.String()
	}
	if f.Operation == a2a.NoOperation {
		return f.which("each request") + ": " + what
	}
	if some := f.which(""); some != "" {
		return f.Operation.String() + ", " + some + ": " + what
	}
	return "each " + f.Operation.String() + ": " + what
}

// which describes the affected requests.
func (f Disruption) which(each string) string {
	switch first := max(1, f.First); {
	case first == f.Last:
		return fmt.Sprintf("request %d", first)
	case f.Last > 0:
		return fmt.Sprintf("requests %d to %d", first, f.Last)
	case first > 1:
		return fmt.Sprintf("requests from %d on", first)
	}
	return each
}

// ParseDelay reads a delay as people write it: [OPERATION=]DURATION[@WHICH], where WHICH is N, N..M, N.. or ..M.
func ParseDelay(text string) (Disruption, error) {
	rest, f, err := cutWhich(text)
	if err != nil {
		return f, err
	}
	op, d, found := strings.Cut(rest, "=")
	if !found {
		op, d = "*", rest
	}
	if f.Operation, err = parseOperation(op); err != nil {
		return f, err
	}
	if f.Delay, err = time.ParseDuration(d); err != nil || f.Delay <= 0 {
		return f, fmt.Errorf("%q is not a delay; write [OPERATION=]DURATION, such as 500ms or SendMessage=2s", d)
	}
	return f, nil
}

// ParseError reads an error as people write it: OPERATION=CODE[@WHICH], where CODE is one of JSON-RPC, the name of an error
// of the protocol, or a status of HTTP from 400 to 599.
func ParseError(text string) (Disruption, error) {
	rest, f, err := cutWhich(text)
	if err != nil {
		return f, err
	}
	op, code, found := strings.Cut(rest, "=")
	if !found {
		return f, fmt.Errorf("%q is not an error; write OPERATION=CODE, such as SendMessage=503 or "+
			"GetTask=TaskNotFoundError", text)
	}
	if f.Operation, err = parseOperation(op); err != nil {
		return f, err
	}
	f.Error, err = parseCode(code)
	return f, err
}

// ParseDrop reads the operation whose requests get no answer: OPERATION[@WHICH].
func ParseDrop(text string) (Disruption, error) {
	rest, f, err := cutWhich(text)
	if err != nil {
		return f, err
	}
	f.Drop = true
	f.Operation, err = parseOperation(rest)
	return f, err
}

// cutWhich removes @WHICH from the end.
func cutWhich(text string) (rest string, f Disruption, err error) {
	i := strings.LastIndexByte(text, '@')
	if i < 0 {
		return text, f, nil
	}
	if f.When, err = injection.ParseWhen(text[i+1:]); err == nil && f.Operation != a2a.NoOperation {
		err = errors.New("after @, select requests by number, from 1, such as @2, @2.. or @2..4")
	}
	if err != nil {
		err = fmt.Errorf("%q: %w", text, err)
	}
	return text[:i], f, err
}

// parseOperation returns the operation of a name in any dialect; * means all.
func parseOperation(name string) (a2a.Operation, error) {
	if name == "*" {
		return a2a.NoOperation, nil
	}
	op, err := a2a.ParseOperation(name)
	if op == a2a.Webhook {
		err = errors.New("faults are injected into answers of agents, not into notifications")
	}
	return op, err
}

func parseCode(text string) (*Error, error) {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		switch {
		case n >= 400 && n <= 599:
			return &Error{Status: int(n)}, nil
		case n < 0:
			return &Error{Name: a2a.ErrorNameOf(n, 0), Code: n}, nil
		}
		return nil, fmt.Errorf("%d is not an error; a JSON-RPC code is below 0, an HTTP status from 400 to 599", n)
	}
	var known []string
	for name := a2a.TaskNotFound; name < a2a.OtherError; name++ {
		row, ok := name.Row()
		if !ok {
			continue
		}
		known = append(known, row.Title)
		short := strings.TrimSuffix(row.Title, "Error")
		if strings.EqualFold(text, row.Title) || strings.EqualFold(text, short) ||
			row.Reason != "" && strings.EqualFold(text, row.Reason) {
			return &Error{Name: name, Code: row.Code}, nil
		}
	}
	return nil, fmt.Errorf("unknown error %q; use a JSON-RPC code such as -32001, an HTTP status such as 503, or "+
		"one of %s%s", text, strings.Join(known, ", "), spelling.Hint(text, known))
}

// refusal returns the client's answer.
func (e *Error) refusal() *refusal {
	r := &refusal{code: e.Code, status: e.Status, bare: e.Status != 0, message: "playback: " + e.String() + ", as requested"}
	if e.Name != a2a.OtherError {
		r.name = e.Name
	}
	return r
}

// A plan is the combined effect of faults on one request.
type plan struct {
	delay time.Duration
	err   *Error
	drop  bool
}

// plan counts a request for each fault that applies to it, and returns their combined effect.
func (p *Player) plan(call *a2a.Call) (out plan) {
	if !call.A2A() {
		return out
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	own := false // a fault for this operation sets the delay
	for i, f := range p.opts.Faults {
		if f.Operation != a2a.NoOperation && f.Operation != call.Operation {
			continue
		}
		if p.came[i]++; !f.Includes(p.came[i]) {
			continue
		}
		out.drop = out.drop || f.Drop
		if f.Error != nil {
			out.err = f.Error
		}
		if particular := f.Operation != a2a.NoOperation; f.Delay > 0 && (particular || !own) {
			out.delay, own = f.Delay, particular
		}
	}
	switch {
	case out.drop:
		p.report.Dropped++
	case out.err != nil:
		p.report.Errors++
	}
	if out.delay > 0 {
		p.report.Delayed++
	}
	return out
}

// faultMade begins the mark of a fault.
const faultMade = capture.FaultMadeHere

// obey performs the planned steps before an answer. It reports whether to give the answer itself. To close the
// connection it panics, which net/http handles by closing it.
func (s *service) obey(do plan) bool {
	if do.delay > 0 {
		s.mark(faultMade+"answered %s later", do.delay)
		if !live.Sleep(s.r.Context(), do.delay) {
			return false
		}
	}
	switch {
	case do.drop:
		s.mark(faultMade + "the connection was closed without an answer")
		panic(http.ErrAbortHandler)
	case do.err != nil:
		s.mark(faultMade+"answered with %s", do.err)
		s.refuse(do.err.refusal())
		return false
	}
	return true
}
