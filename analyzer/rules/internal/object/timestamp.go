package object

import (
	"bytes"
	"time"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/rules/internal/rule"
	"a2atap/analyzer/track/stream"
	"a2atap/proxy/a2a"
)

// Timestamps is the family of rules about how a time is written.
var Timestamps = rule.Family{
	Name:     "timestamp",
	Category: analysis.Lifecycle,
	Side:     a2a.Agent,
	Cites:    rule.Cite("5.6.1", a2a.V1_0),
}.Of(
	taskTimestampFormat,
	timestampUTCZ,
	timestampNoOffset,
	timestampMillis,
)

var taskTimestampFormat = &analysis.Rule{
	ID:       "task-timestamp-format",
	Title:    "timestamp is not an ISO 8601 date and time",
	Level:    analysis.Must,
	On:       analysis.StatusSeen,
	Bindings: rule.OnJSONCall,
	Cites:    rule.Cite("6.2", rule.Before1...),
	Stands:   "0.1.0:443 0.2.6:types:203 0.3.0:types:506",
	Doc: `A status says when it was recorded. Clients sort by the time and show it; ISO 8601 parsers cannot read a
number of seconds or a date in prose.`,
	Fix: `Write 2025-04-02T16:59:25Z, in UTC.`,
	Silent: `A time without a zone, which examples of the specification have; all other forms of ISO 8601; a timestamp
that is null.`,
	Check: func(p *analysis.Pass) {
		v := p.Entity.Member("timestamp")
		if !v.Exists() {
			return
		}
		p.Applied()
		if v.Kind() != a2a.String || !isISO8601(content(v)) {
			p.Report(p.Here("timestamp"), "timestamp is "+analysis.Quote(v), "expected an ISO 8601 date and time")
		}
	},
}

var timestampUTCZ = &analysis.Rule{
	ID:       "timestamp-utc-z",
	Title:    "timestamp is not written as 2026-03-01T10:00:00.000Z",
	Level:    analysis.Must,
	Either:   true,
	On:       analysis.StatusSeen | analysis.FrameSeen,
	Bindings: rule.OnJSON,
	Stands:   "1.0.1:1230",
	Doc: `1.0 has one format for a time: date, T, time, Z. Its parsers refuse everything else, and with it the whole
message. A time without a zone may be read in any zone.`,
	Fix: `Format times in UTC as 2026-03-01T10:00:00.000Z.`,
	Silent: `Any number of digits after the point. A lower-case t or z is a note, and an offset is covered by another
rule. Times in metadata and data may have any format.`,
	Check: func(p *analysis.Pass) {
		v, name := timeOf(p)
		if !v.Exists() {
			return
		}
		p.Applied()
		form := readTime(v)
		if form != odd && form != lowerCase {
			return
		}
		p.Report(p.Here(name), name+" is "+analysis.Quote(v), "expected YYYY-MM-DDThh:mm:ss.sssZ",
			analysis.AtMostIf(form == lowerCase, analysis.Note))
	},
}

var timestampNoOffset = &analysis.Rule{
	ID:       "timestamp-no-offset",
	Title:    "timestamp with an offset instead of Z",
	Level:    analysis.Must,
	Either:   true,
	On:       analysis.StatusSeen | analysis.FrameSeen,
	Bindings: rule.OnJSON,
	Stands:   "1.0.1:1255",
	Doc: `1.0 times are in UTC and end with Z. Receivers compare and sort them as text: with an offset the order is
wrong, and strict parsers refuse the message.`,
	Fix:    `Convert to UTC and write Z. In Python replace the "+00:00" that isoformat() prints.`,
	Silent: `Times that are wrong in another respect, which timestamp-utc-z reports.`,
	Check: func(p *analysis.Pass) {
		v, name := timeOf(p)
		if !v.Exists() {
			return
		}
		p.Applied()
		if readTime(v) == offset {
			p.Report(p.Here(name), name+" is "+analysis.Quote(v), `expected UTC with "Z"`)
		}
	},
}

// timeOf returns the typed time in the current object and its name. A time in a query is text.
func timeOf(p *analysis.Pass) (a2a.Value, string) {
	switch {
	case p.Entity.Type == a2a.StatusEntity:
		return p.Entity.Member("timestamp"), "timestamp"
	case p.Entity.Type == a2a.ParamsEntity && p.Exchange.Call.Operation == a2a.ListTasks:
		return p.Entity.Member("statusTimestampAfter"), "statusTimestampAfter"
	}
	return a2a.Value{}, ""
}

var timestampMillis = &analysis.Rule{
	ID:       "timestamp-millis",
	Title:    "timestamps without milliseconds",
	Level:    analysis.Advice,
	Once:     analysis.PerEndpoint,
	On:       analysis.FrameSeen | analysis.StreamEnded,
	Needs:    []*analysis.Tracker{stream.Tracker},
	Bindings: rule.OnJSONCall,
	Stands:   "1.0.1:1236",
	Doc: `1.0 times have milliseconds if the agent can measure them. If tasks change several times a second, whole
seconds do not give an order, and a list sorted by time comes out in any order.`,
	Fix: `Keep the milliseconds when you record a status, and print them: 2026-03-01T10:00:00.125Z.`,
	Silent: `A single time may be on a whole second by chance: the rule needs three different ones in one stream or
list, and none with a fraction. It is reported once per URL.`,
	Check: func(p *analysis.Pass) {
		var clock stream.Clock
		switch {
		case p.Kind == analysis.StreamEnded:
			clock = stream.Of(p).In(p.Exchange).Clock
		case p.Entity.Type == a2a.TaskListEntity:
			for _, task := range p.Entity.Member("tasks").Elems() {
				if v := task.Get("status").Get("timestamp"); v.Kind() == a2a.String {
					clock.See(content(v))
				}
			}
		default:
			return
		}
		p.Applied()
		if clock.WholeSeconds() {
			place := p.Place
			if p.Entity != nil {
				place = p.Here("tasks")
			}
			p.Report(place, "all timestamps are on a whole second", "expected milliseconds")
		}
	},
}

// A timeForm is how an instant is written.
type timeForm uint8

const (
	odd       timeForm = iota // in none of the following ways
	utc                       // 2026-03-01T10:00:00.000Z
	lowerCase                 // the same with a small t or z
	offset                    // the same with an offset instead of Z
)

// readTime returns how a value is written as a 1.0 timestamp, which has the RFC 3339 form.
func readTime(v a2a.Value) timeForm {
	if v.Kind() != a2a.String {
		return odd
	}
	text := content(v)
	const seconds = len("2026-03-01T10:00:00")
	if len(text) <= seconds || !isDate(text[:10], "dddd-dd-dd") || !isClock(text[11:seconds], "dd:dd:dd") {
		return odd
	}
	separator, zone := text[10], withoutFraction(text[seconds:])
	small := separator == 't' || string(zone) == "z"
	switch {
	case separator != 'T' && separator != 't':
		return odd
	case isOffset(zone):
		return offset
	case string(zone) != "Z" && string(zone) != "z":
		return odd
	case small:
		return lowerCase
	}
	return utc
}

// withoutFraction returns the text after a fraction of at least one digit; the whole text without a fraction.
func withoutFraction(text []byte) []byte {
	if len(text) < 2 || text[0] != '.' && text[0] != ',' || !isDigit(text[1]) {
		return text
	}
	text = text[1:]
	for len(text) > 0 && isDigit(text[0]) {
		text = text[1:]
	}
	return text
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// matchesPattern reports whether a text has digits where the pattern has d, and its other characters where it has them.
func matchesPattern(text []byte, pattern string) bool {
	if len(text) != len(pattern) {
		return false
	}
	for i, c := range text {
		if pattern[i] == 'd' && !isDigit(c) || pattern[i] != 'd' && pattern[i] != c {
			return false
		}
	}
	return true
}

// twoDigits returns the number that two digits write.
func twoDigits(text []byte) int { return int(text[0]-'0')*10 + int(text[1]-'0') }

// isDate reports whether a text is a day of the calendar in that form: the year, then month and day, with or without
// hyphens.
func isDate(text []byte, pattern string) bool {
	if !matchesPattern(text, pattern) {
		return false
	}
	year := 100*twoDigits(text) + twoDigits(text[2:])
	month, day := twoDigits(text[len(text)/2:]), twoDigits(text[len(text)-2:])
	if month < 1 || month > 12 || day < 1 {
		return false
	}
	return day <= time.Date(year, time.Month(month)+1, 0, 0, 0, 0, 0, time.UTC).Day()
}

// isClock reports whether a text is a time of the day in that form.
func isClock(text []byte, pattern string) bool {
	if !matchesPattern(text, pattern) {
		return false
	}
	limits := [...]int{24, 59, 60} // midnight may be 24:00, and a leap second is 60
	for i, unit := 0, 0; i < len(text); i, unit = i+2, unit+1 {
		if !isDigit(text[i]) {
			i++
		}
		if twoDigits(text[i:]) > limits[unit] {
			return false
		}
	}
	return true
}

func isOffset(zone []byte) bool {
	if len(zone) == 0 || zone[0] != '+' && zone[0] != '-' {
		return false
	}
	return matchesPattern(zone[1:], "dd:dd") || matchesPattern(zone[1:], "dddd") || matchesPattern(zone[1:], "dd")
}

// isISO8601 reports whether a text is a date and time in one of the forms of ISO 8601: with or without separators, by
// calendar, week or day of the year, to the second, minute or hour, with or without a zone.
func isISO8601(text []byte) bool {
	i := bytes.IndexAny(text, "Tt")
	if i < 0 {
		return false
	}
	date, clock := text[:i], text[i+1:]
	end := 0
	for end < len(clock) && (isDigit(clock[end]) || clock[end] == ':') {
		end++
	}
	clock, zone := clock[:end], withoutFraction(clock[end:])
	dated := isDate(date, "dddd-dd-dd") || isDate(date, "dddddddd") || matchesPattern(date, "dddd-ddd") ||
		matchesPattern(date, "ddddddd") ||
		matchesPattern(date, "dddd-Wdd-d") || matchesPattern(date, "ddddWddd")
	timed := isClock(clock, "dd:dd:dd") || isClock(clock, "dddddd") || isClock(clock, "dd:dd") || isClock(clock, "dddd") ||
		isClock(clock, "dd")
	return dated && timed && (len(zone) == 0 || string(zone) == "Z" || string(zone) == "z" || isOffset(zone))
}
