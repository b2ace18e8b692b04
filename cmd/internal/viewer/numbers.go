package viewer

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"a2atap/cmd/internal/cli"
	"a2atap/tui/document"
)

// A span is a run of sequence numbers, both ends included, or a part of one exchange.
type span struct {
	from, to uint64
	part     document.Section
}

// spanForm matches the names of exchanges: 3, 3..9, and places. For a place, its message or event is printed
// completely.
var spanForm = regexp.MustCompile(
	`^(\d+)(?:\.\.(\d+)|\.(request|response)(?:\.line|\.status|\.header\[[^\]]*\]|\.body|\.(?:event|message)\[(\d+)\])?(?:#.*)?)?$`)

func parseNumbers(args []string) ([]span, error) {
	var spans []span
	for _, arg := range args {
		s, ok := parseSpan(arg)
		if !ok {
			return nil, cli.Usage("invalid exchange number %q; write 3 or 3..9, counting from 1, or a part of one: "+
				"3.request, 3.response, 3.response.event[2]", arg)
		}
		spans = append(spans, s)
	}
	return spans, nil
}

func parseSpan(arg string) (s span, ok bool) {
	m := spanForm.FindStringSubmatch(arg)
	if m == nil {
		return s, false
	}
	var errFrom, errTo, errEvent error
	s.from, errFrom = strconv.ParseUint(m[1], 10, 64)
	s.to = s.from
	if m[2] != "" {
		s.to, errTo = strconv.ParseUint(m[2], 10, 64)
	}
	switch m[3] {
	case "request":
		s.part.Side = document.RequestSide
	case "response":
		s.part.Side = document.ResponseSide
	}
	if m[4] != "" {
		s.part.Event, errEvent = strconv.Atoi(m[4])
		if s.part.Event == 0 || s.part.Side != document.ResponseSide {
			return s, false
		}
	}
	return s, errFrom == nil && errTo == nil && errEvent == nil && s.from > 0 && s.to >= s.from
}

// numbersOf names the exchanges in the arguments.
func numbersOf(wanted []span) string {
	var words []string
	for _, s := range wanted {
		word := strconv.FormatUint(s.from, 10)
		if s.to != s.from {
			word += fmt.Sprintf("..%d", s.to)
		}
		words = append(words, word)
	}
	return strings.Join(words, " ")
}

// someNumbers names up to ten exchanges.
func someNumbers(list []uint64) string {
	const named = 10
	var words []string
	for _, n := range list[:min(len(list), named)] {
		words = append(words, strconv.FormatUint(n, 10))
	}
	if more := len(list) - named; more > 0 {
		words = append(words, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(words, ", ")
}

func isOrAre(n int) string {
	if n == 1 {
		return "is"
	}
	return "are"
}
