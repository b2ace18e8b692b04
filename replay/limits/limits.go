// Package limits bounds the data that an agent can make a client of a2atap receive, so that each agent costs at most
// a known amount of time and memory.
package limits

import (
	"cmp"
	"fmt"
	"io"
	"time"
)

// Limits bound what one call receives. A member that is zero has its default.
type Limits struct {
	Answer int64         // bytes of one answer or one stream, its content coding removed; 16 MiB
	Events int           // events of a stream; 50,000
	Values int           // JSON values of one answer or one event; 500,000
	Pages  int           // pages of a list; 1,000
	Skills int           // of a card; 10,000
	Idle   time.Duration // between two events of a stream; 1 hour
}

// Limits that no flag raises.
const (
	Event     = 16 << 20 // bytes of one event
	Head      = 1 << 20  // bytes of the heads of one answer, interim ones included
	Redirects = 10       // of a read
)

// The flags that set a limit.
const (
	AnswerFlag = "max-answer"
	EventsFlag = "max-events"
	PagesFlag  = "max-pages"
	SkillsFlag = "max-skills"
	IdleFlag   = "max-idle"
	LateFlag   = "timeout" // each command has its own default
)

// OrDefaults returns the limits with the defaults of those that are not set.
func (l Limits) OrDefaults() Limits {
	return Limits{
		Answer: cmp.Or(l.Answer, 16<<20), Events: cmp.Or(l.Events, 50_000), Values: cmp.Or(l.Values, 500_000),
		Pages: cmp.Or(l.Pages, 1000), Skills: cmp.Or(l.Skills, 10_000), Idle: cmp.Or(l.Idle, time.Hour),
	}
}

// A ReachedError names the limit that a call has reached, and the flag that raises the limit.
type ReachedError struct {
	What string // such as "the stream has more than 50000 events"
	Flag string // without dashes; empty if no flag raises the limit
}

// Error names the limit and its flag.
func (e *ReachedError) Error() string {
	if e.Flag == "" {
		return e.What
	}
	return e.What + "; --" + e.Flag + " allows more"
}

// TooLong returns the error of an answer that has more bytes than Answer.
func (l Limits) TooLong() error {
	return &ReachedError{fmt.Sprintf("the answer is longer than %d bytes", l.Answer), AnswerFlag}
}

// Silent returns the error of a stream that has sent no event for Idle.
func (l Limits) Silent() error {
	return &ReachedError{fmt.Sprintf("the stream brought no event for %v", l.Idle), IdleFlag}
}

// TooManyPages returns the error of a list that has more pages than Pages.
func (l Limits) TooManyPages() error {
	return &ReachedError{fmt.Sprintf("the list has more than %d pages", l.Pages), PagesFlag}
}

// TooManySkills returns the error of a card that has more skills than Skills.
func (l Limits) TooManySkills() error {
	return &ReachedError{fmt.Sprintf("the card has more than %d skills", l.Skills), SkillsFlag}
}

// HeadTooLong returns the error of an answer whose heads have more bytes than Head.
func HeadTooLong() error {
	return &ReachedError{fmt.Sprintf("the head of the answer is longer than %d bytes", Head), ""}
}

// EventTooLong returns the error of an event that has more bytes than Event.
func EventTooLong() error {
	return &ReachedError{fmt.Sprintf("an event is longer than %d bytes", Event), ""}
}

// TooManyRedirects returns the error of a read that is redirected more often than Redirects.
func TooManyRedirects() error {
	return &ReachedError{fmt.Sprintf("it redirects more than %d times", Redirects), ""}
}

// Late returns the error of an agent that has not answered within a time.
func Late(timeout time.Duration) error {
	return &ReachedError{fmt.Sprintf("no answer within %v", timeout), LateFlag}
}

// Unended returns the error of an answer that has not ended within a time.
func Unended(timeout time.Duration) error {
	return &ReachedError{fmt.Sprintf("the answer did not end within %v", timeout), LateFlag}
}

// TooManyNotifications returns the error of a webhook that has received more notifications than Events.
func (l Limits) TooManyNotifications() error {
	return &ReachedError{fmt.Sprintf("more than %d notifications arrived", l.Events), EventsFlag}
}

// ReadAll reads an answer that is not a stream. It fails with a ReachedError if the answer is longer than Answer.
func (l Limits) ReadAll(r io.Reader) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, l.Answer+1))
	if err == nil && int64(len(data)) > l.Answer {
		err = l.TooLong()
	}
	return data, err
}

// CheckValues returns a ReachedError for a JSON text that holds more values than Values. It counts the beginnings of
// values outside strings, before decoding, and needs no memory besides the text.
func (l Limits) CheckValues(text []byte) error {
	if len(text) <= l.Values {
		return nil
	}
	n := 0
	for i := 0; i < len(text) && n <= l.Values; i++ {
		switch text[i] {
		case '{', '[', ',':
			n++
		case '"':
			i = stringEnd(text, i)
		}
	}
	if n <= l.Values {
		return nil
	}
	return &ReachedError{fmt.Sprintf("the answer has more than %d JSON values", l.Values), ""}
}

// stringEnd returns the index of the quote that ends the string that begins at a quote.
func stringEnd(text []byte, i int) int {
	for i++; i < len(text); i++ {
		switch text[i] {
		case '"':
			return i
		case '\\':
			i++
		}
	}
	return i
}

// A Meter counts the data of a stream. It is for one goroutine.
type Meter struct {
	Limits
	bytes  int64
	events int
}

// Bytes counts bytes of a stream, its content coding removed.
func (m *Meter) Bytes(n int) error {
	if m.bytes += int64(n); m.bytes > m.Answer {
		return m.TooLong()
	}
	return nil
}

// Event counts an event.
func (m *Meter) Event() error {
	if m.events++; m.events > m.Events {
		return &ReachedError{fmt.Sprintf("the stream has more than %d events", m.Events), EventsFlag}
	}
	return nil
}
