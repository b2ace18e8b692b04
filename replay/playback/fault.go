package playback

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
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

// which names the requests that are concerned.
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

// ParseDrop reads what is not answered at all: OPERATION[@WHICH].
func ParseDrop(text string) (Disruption, error) {
	rest, f, err := cutWhich(text)
	if err != nil {
		return f, err
	}
	f.Drop = true
	f.Operation, err = parseOperation(rest)
	return f, err
}

// cutWhich takes @N, @N..M, @N.. or @..M off the end. A # before the numbers is let pass.
func cutWhich(text string) (rest string, f Disruption, err error) {
	i := strings.LastIndexByte(text, '@')
	if i < 0 {
		return text, f, nil
	}
	first, last, isRange := strings.Cut(strings.TrimPrefix(text[i+1:], "#"), "..")
	if !isRange {
		last = first
	}
	number := func(digits string) int {
		n, numErr := strconv.Atoi(digits)
		if numErr != nil || n < 1 {
			err = fmt.Errorf("%q: after @ stands which requests are meant, counted from 1, such as @2, @2.. or @2..4",
				text)
		}
		return n
	}
	if first != "" || last == "" {
		f.First = number(first)
	}
	if last != "" {
		f.Last = number(last)
	}
	if err == nil && f.Last > 0 && f.First > f.Last {
		err = fmt.Errorf("%q: the first request, %d, comes after the last, %d", text, f.First, f.Last)
	}
	return text[:i], f, err
}

// parseOperation returns the operation of a name in any dialect; * is all.
func parseOperation(name string) (a2a.Operation, error) {
	if name == "*" {
		return a2a.NoOperation, nil
	}
	if op := a2a.OperationOf(name); op != a2a.NoOperation && op != a2a.Webhook {
		return op, nil
	}
	var known []string
	best, least := "", len(name)/2+1
	for op := a2a.SendMessage; op <= a2a.GetCard; op++ {
		known = append(known, op.String())
		if d := spelling.Distance(strings.ToLower(name), strings.ToLower(op.String())); d < least {
			best, least = op.String(), d
		}
	}
	if best != "" {
		return 0, fmt.Errorf("unknown operation %q; did you mean %s?", name, best)
	}
	return 0, fmt.Errorf("unknown operation %q; use one of %s, or * for all", name, strings.Join(known, ", "))
}

func parseCode(text string) (*Error, error) {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		switch {
		case n >= 400 && n <= 599:
			return &Error{Status: int(n)}, nil
		case n < 0:
			return &Error{Name: a2a.ErrorNameOf(n, 0), Code: n}, nil
		}
		return nil, fmt.Errorf("%d is not an error; a code of JSON-RPC is below 0, a status of HTTP from 400 to 599", n)
	}
	var known []string
	best, least := "", len(text)/2+1
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
		if d := spelling.Distance(strings.ToLower(text), strings.ToLower(row.Title)); d < least {
			best, least = row.Title, d
		}
	}
	if best != "" {
		return nil, fmt.Errorf("unknown error %q; did you mean %s?", text, best)
	}
	return nil, fmt.Errorf("unknown error %q; use a code of JSON-RPC such as -32001, a status of HTTP such as 503, or "+
		"one of %s", text, strings.Join(known, ", "))
}

// refusal returns what the client gets.
func (e *Error) refusal() *refusal {
	r := &refusal{code: e.Code, status: e.Status, bare: e.Status != 0, message: "playback: " + e.String() + ", as it was asked for"}
	if e.Name != a2a.OtherError {
		r.name = e.Name
	}
	return r
}

// A plan is what faults come to for one request.
type plan struct {
	delay time.Duration
	err   *Error
	drop  bool
}

// plan counts a request for the faults that concern it, and returns what they come to.
func (p *Player) plan(call *a2a.Call) (out plan) {
	if !call.A2A() {
		return out
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	own := false // the delay is that of the operation
	for i, f := range p.opts.Faults {
		if f.Operation != a2a.NoOperation && f.Operation != call.Operation {
			continue
		}
		p.came[i]++
		if p.came[i] < f.First || f.Last > 0 && p.came[i] > f.Last {
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

// obey does what is planned before an answer. It reports whether the answer itself is still to be given; where the
// connection is to be closed it panics, which tells net/http to do so.
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
