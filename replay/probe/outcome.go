package probe

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"a2atap/analyzer/analysis"
	"a2atap/proxy/grpc"
	"a2atap/replay/client"
)

// A Failure means that the agent broke a requirement.
type Failure struct {
	Expected string
	Seen     string
	Level    analysis.Level // if worse than the scenario's usual level; else zero
}

// Error implements the error interface.
func (f *Failure) Error() string { return "expected " + f.Expected + "; seen " + f.Seen }

// Fail returns a failure; seen is a format.
func Fail(expected, seen string, args ...any) error {
	return &Failure{Expected: expected, Seen: fmt.Sprintf(seen, args...)}
}

// A Skip means that the scenario does not apply to this agent, such as one about streams for an agent without them.
type Skip struct{ Why string }

// Error implements the error interface.
func (s *Skip) Error() string { return "skipped: " + s.Why }

// An Inconclusive means that the agent's answer does not show what the scenario tests.
type Inconclusive struct {
	Why   string
	Cause error // may be nil
}

// Error implements the error interface.
func (i *Inconclusive) Error() string { return "inconclusive: " + i.Why }

// Unwrap returns the cause.
func (i *Inconclusive) Unwrap() error { return i.Cause }

// Unclear returns an Inconclusive.
func Unclear(format string, args ...any) error {
	return &Inconclusive{Why: fmt.Sprintf(format, args...)}
}

// errNoTask is the reason why a scenario about tasks is inconclusive if the agent answers with a message.
var errNoTask = errors.New("the agent answered with a message, and this scenario needs a task")

// NoTask returns the Inconclusive of a scenario about tasks if the agent answered with a message.
func NoTask() error { return &Inconclusive{Why: errNoTask.Error(), Cause: errNoTask} }

// Refused asserts that a call was refused with one of the reasons (of A2A 1.0 §5.4, such as TASK_NOT_FOUND). Without
// reasons, any refusal passes. It returns an error that is not a refusal unchanged.
func Refused(err error, reasons ...string) error {
	expected := "a refusal"
	if len(reasons) > 0 {
		expected += " with " + strings.Join(reasons, " or ")
	}
	var refused *client.Error
	switch {
	case err == nil:
		return Fail(expected, "the call succeeded")
	case !errors.As(err, &refused):
		return err
	case len(reasons) > 0 && !slices.Contains(reasons, refused.Reason):
		return Fail(expected, "%s", Describe(refused))
	}
	return nil
}

// RefusedWith is Refused with JSON-RPC codes: the standard ones, which have no reason.
func RefusedWith(err error, codes ...int) error {
	var words []string
	for _, code := range codes {
		words = append(words, fmt.Sprint(code))
	}
	expected := "a refusal with " + strings.Join(words, " or ")
	var refused *client.Error
	switch {
	case err == nil:
		return Fail(expected, "the call succeeded")
	case !errors.As(err, &refused):
		return err
	case !slices.Contains(codes, refused.Code):
		return Fail(expected, "%s", Describe(refused))
	}
	return nil
}

// Describe describes a refusal of a call.
func Describe(e *client.Error) string {
	text := cmp.Or(e.Status, fmt.Sprintf("HTTP %d", e.HTTPStatus))
	if e.Code != 0 {
		text += fmt.Sprintf(", code %d", e.Code)
	}
	if e.Reason != "" {
		text += ", " + e.Reason
	}
	if e.Message != "" {
		text += fmt.Sprintf(", %q", e.Message)
	}
	return text
}

// cardless adjusts an outcome if no card lists the agent's features. A skip is then not certain, and a refusal of
// something that the scenario needs is not a failure.
func cardless(s *Session, needs []Capability, err error) error {
	var refused *client.Error
	var failure *Failure
	var skip *Skip
	switch {
	case errors.As(err, &skip) && strings.HasPrefix(skip.Why, "the card "):
		if errors.Is(s.NoCard(), errNotRead) {
			return &Skip{Why: errNotRead.Error()}
		}
		return Unclear("not tested: there is no card")
	case len(needs) == 0:
	case errors.As(err, &refused) && disclaims(refused):
		return &Skip{Why: fmt.Sprintf("the agent answers that it has no %s", needs[0])}
	case (errors.As(err, &refused) || errors.As(err, &failure)) && refuses(s.Last()):
		return Unclear("the agent refuses it, and no card declares %s", needs[0])
	}
	return err
}

// refuses reports whether an answer is a refusal.
func refuses(a *Answer) bool {
	return a.Status >= http.StatusBadRequest || a.JSON().Get("error").Exists()
}

// disclaims reports whether an agent says that it lacks the requested feature.
func disclaims(refused *client.Error) bool {
	return refused.Reason == "PUSH_NOTIFICATION_NOT_SUPPORTED" || refused.Reason == "UNSUPPORTED_OPERATION" ||
		refused.Code == -32601 || refused.Status == grpc.Unimplemented.String()
}
