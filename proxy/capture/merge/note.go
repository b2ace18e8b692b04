package merge

import (
	"fmt"
	"strings"
	"time"

	"a2atap/proxy/capture"
)

// note adds notes to a remaining exchange about other recorders' views of it.
func (w *writer) note(x *exchange) error {
	y := x.down
	if x.noted || y == nil {
		return nil
	}
	x.noted = true
	stays := x.root()
	if y.apart || stays != y.root() {
		if err := w.fact(x, capture.SeenOtherwise+w.seenAs(x, y)+differing(x, y)); err != nil {
			return err
		}
		return w.fact(y, capture.SeenOtherwise+w.seenAs(y, x)+differing(y, x))
	}
	other := y
	if y == stays { // the outer view went into the inner one
		other = x
	}
	return w.fact(stays, capture.SeenAlso+w.seenAs(stays, other)+uncertain(x, y))
}

// root returns the view into which an exchange was folded; itself if it was not.
func (x *exchange) root() *exchange {
	for range 16 {
		if x.stays == nil {
			break
		}
		x = x.stays
	}
	return x
}

// fact appends a note to an exchange that was written.
func (w *writer) fact(x *exchange, note string) error {
	if x = x.root(); x.out == 0 {
		return nil
	}
	return w.say(x.out, capture.Fact{Note: note})
}

// seenAs returns where and when another view of an exchange was recorded.
func (w *writer) seenAs(x, y *exchange) string {
	text := fmt.Sprintf("at %s as exchange %d of %s", y.r.Host, y.seq, y.r.Name)
	at := func(e *exchange, instant int64) int64 { return w.clocks.corrected(e.r.Host, instant) }
	text += fmt.Sprintf(", where the request arrived %s", apart(at(y, y.started)-at(x, x.started)))
	if x.answerEnd != unknown && y.answerEnd != unknown {
		text += fmt.Sprintf(" and the answer ended %s", apart(at(y, y.answerEnd)-at(x, x.answerEnd)))
	}
	return text
}

// apart returns the distance of two times as text.
func apart(nanoseconds int64) string {
	d := time.Duration(nanoseconds)
	switch {
	case d.Abs() < time.Microsecond:
		return "at the same time"
	case d < 0:
		return fmt.Sprintf("%s earlier", (-d).Round(time.Microsecond))
	}
	return fmt.Sprintf("%s later", d.Round(time.Microsecond))
}

// differing describes how the answer in another view of an exchange differs.
func differing(x, y *exchange) string {
	if x.answerHead != unknown && y.answerHead != unknown && x.status != y.status {
		return fmt.Sprintf("; another answer: status %d there, %d here", y.status, x.status)
	}
	if !compatible(&x.answer, &y.answer) {
		return fmt.Sprintf("; another answer: %d bytes there, %d here, with different contents", y.answer.size, x.answer.size)
	}
	return "; the same exchange, but it was recognized too late to combine them"
}

// uncertain describes what could not be compared.
func uncertain(x, y *exchange) string {
	var what []string
	if x.request.exact != y.request.exact {
		what = append(what, "requests except for URLs and hidden secrets")
	}
	switch {
	case x.answerHead == unknown && y.answerHead == unknown: // neither view has an answer
	case !x.answer.done || !y.answer.done || x.answer.cut || y.answer.cut:
		what = append(what, "answers as far as both were recorded")
	case x.answer.exact != y.answer.exact:
		what = append(what, "answers except for URLs and hidden secrets")
	}
	if len(what) == 0 {
		return ""
	}
	return "; compared: " + strings.Join(what, ", ")
}
