package injection

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"a2atap/proxy/a2a"
)

// A When selects the calls of an agent that get a fault: calls of one operation, or of all, and among them all, or some
// by their number. The zero When selects all calls, or for stream faults all calls that stream; it excludes fetches of
// the public agent card, which are selected only by name.
//
// As text it is OPERATION, #N, #N..M, #N.. or #..M, or both: SendStreamingMessage#2. An operation may have its name in
// any dialect (message/stream); N alone is #N. Numbers count the calls of the operation to the agent from 1, separately
// for each fault.
type When struct {
	Operation a2a.Operation // NoOperation is for all
	First     int           // 0 is 1
	Last      int           // 0 is without end
}

// ParseWhen reads the text of a When. Its errors list the valid values.
func ParseWhen(text string) (w When, err error) {
	name, numbers, numbered := strings.Cut(text, "#")
	if !numbered && strings.Trim(name, "0123456789.") == "" {
		name, numbers, numbered = "", name, true
	}
	if name == "" && !numbered || numbered && numbers == "" {
		return w, errors.New("nothing follows @ or #; write OPERATION, #N, #N..M or OPERATION#N after @, or leave @ out for all " +
			"calls")
	}
	if name != "" {
		if w.Operation, err = a2a.ParseOperation(name); err != nil {
			return w, fmt.Errorf("after @: %w", err)
		}
		if w.Operation == a2a.Webhook {
			return w, errors.New("faults are injected into answers of agents, not into notifications")
		}
	}
	if !numbered {
		return w, nil
	}
	first, last, isRange := strings.Cut(numbers, "..")
	if isRange && first == "" && last == "" {
		return w, fmt.Errorf("#%s names no call; write #N, #N..M, #N.. or #..M", numbers)
	}
	if w.First, err = number(first, isRange); err == nil && isRange {
		w.Last, err = number(last, true)
	} else {
		w.Last = w.First
	}
	if err != nil {
		return w, fmt.Errorf("#%s: %w", numbers, err)
	}
	if w.Last > 0 && w.First > w.Last {
		return w, fmt.Errorf("#%s ends before it begins; write #%d..%d", numbers, w.Last, w.First)
	}
	return w, nil
}

// number reads the number of a call. An open end of a range is 0.
func number(text string, open bool) (int, error) {
	if text == "" && open {
		return 0, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > maxNumber {
		return 0, fmt.Errorf("calls are numbered from 1 to %d, not %q", maxNumber, text)
	}
	return n, nil
}

// String returns the text that Parse reads; empty for the zero When.
func (w When) String() string {
	text := w.Operation.String()
	switch {
	case w.First == 0 && w.Last == 0:
		return text
	case w.First == w.Last:
		return fmt.Sprintf("%s#%d", text, w.First)
	}
	text += "#"
	if w.First > 0 {
		text += strconv.Itoa(w.First)
	}
	text += ".."
	if w.Last > 0 {
		text += strconv.Itoa(w.Last)
	}
	return text
}

// Includes reports whether the nth call that counts gets the fault.
func (w When) Includes(n int) bool { return n >= w.First && (w.Last == 0 || n <= w.Last) }
