package filter

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// A comparison holds values against one bound or two.
type comparison[T cmp.Ordered] struct {
	op     string // "", ">", ">=", "<", "<=" or ".."
	lo, hi bound[T]
}

// A bound is a value as the user wrote it. Without a fraction it may mean a range: 2s means all durations that begin
// with two seconds, 4xx a hundred statuses.
type bound[T cmp.Ordered] struct {
	text        string // empty: the range has no such end
	first, last T      // the range if it is not compared
	top         T      // where it is an upper limit, the last value within
}

func (c comparison[T]) holdsFor(v T) bool {
	switch c.op {
	case ">":
		return v > c.lo.top
	case ">=":
		return v >= c.lo.first
	case "<":
		return v < c.lo.first
	case "<=":
		return v <= c.lo.top
	case "..":
		return (c.lo.text == "" || v >= c.lo.first) && (c.hi.text == "" || v <= c.hi.top)
	}
	return c.lo.first <= v && v <= c.lo.last
}

func (c comparison[T]) String() string {
	if c.op == ".." {
		return c.lo.text + ".." + c.hi.text
	}
	return c.op + c.lo.text
}

// parseComparison parses a comparison, a range or a plain value. The error describes the text's problem, to follow the
// key's name.
func parseComparison[T cmp.Ordered](text string, read func(string) (bound[T], error)) (comparison[T], error) {
	var c comparison[T]
	for _, op := range []string{">=", "<=", ">", "<", "="} {
		if rest, ok := strings.CutPrefix(text, op); ok {
			lo, err := read(rest)
			return comparison[T]{op: strings.TrimPrefix(op, "="), lo: lo}, err
		}
	}
	lo, hi, ok := strings.Cut(text, "..")
	if !ok {
		lo, err := read(text)
		return comparison[T]{lo: lo}, err
	}
	c.op = ".."
	var err error
	if lo != "" {
		if c.lo, err = read(lo); err != nil {
			return c, err
		}
	}
	if hi != "" {
		if c.hi, err = read(hi); err != nil {
			return c, err
		}
	}
	if lo == "" && hi == "" {
		return c, fmt.Errorf("has a range without a start and an end")
	}
	if lo != "" && hi != "" && c.hi.top < c.lo.first {
		return c, fmt.Errorf("has a range that ends before it begins")
	}
	return c, nil
}

// readInteger reads a whole number.
func readInteger(text string) (bound[int64], error) {
	v, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return bound[int64]{}, fmt.Errorf("wants a whole number, not %q", text)
	}
	return bound[int64]{text: text, first: v, last: v, top: v}, nil
}

// readStatus reads a status code, or a class of them such as 4xx.
func readStatus(text string) (bound[int64], error) {
	if len(text) == 3 && '1' <= text[0] && text[0] <= '9' && strings.EqualFold(text[1:], "xx") {
		v := int64(text[0]-'0') * 100
		return bound[int64]{text: text, first: v, last: v + 99, top: v + 99}, nil
	}
	b, err := readInteger(text)
	if err != nil {
		err = fmt.Errorf("wants a number such as 404 or 4xx, not %q", text)
	}
	return b, err
}

// readNumber reads a JSON number.
func readNumber(text string) (bound[float64], error) {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(v) {
		return bound[float64]{}, fmt.Errorf("wants a number, not %q", text)
	}
	return bound[float64]{text: text, first: v, last: v, top: v}, nil
}

// readDuration reads a duration with its unit, in nanoseconds.
func readDuration(text string) (bound[int64], error) {
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		return bound[int64]{}, fmt.Errorf("wants a duration with a unit (ns us ms s m h) such as 200ms or 1.5s, not %q",
			text)
	}
	number, unit := lastNumber(text)
	one, _ := time.ParseDuration("1" + unit)
	return measured(text, int64(d), float64(one), number), nil
}

// sizeUnits are the bytes in a unit of size. Units are not case-sensitive.
var sizeUnits = map[string]float64{
	"": 1, "b": 1,
	"k": 1e3, "kb": 1e3, "m": 1e6, "mb": 1e6, "g": 1e9, "gb": 1e9,
	"kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30,
}

// readSize reads a number of bytes.
func readSize(text string) (bound[int64], error) {
	number, unit := lastNumber(text)
	v, err := strconv.ParseFloat(number, 64)
	one, ok := sizeUnits[strings.ToLower(unit)]
	if err != nil || !ok || number+unit != text || v*one >= math.MaxInt64 {
		return bound[int64]{}, fmt.Errorf("wants a size in bytes or with a unit (kB MB GB KiB MiB GiB) such as "+
			"200kB, not %q", text)
	}
	return measured(text, int64(v*one), one, number), nil
}

// lastNumber returns the last number in a text, and the unit that follows it.
func lastNumber(text string) (number, unit string) {
	end := len(strings.TrimRightFunc(text, func(r rune) bool { return !unicode.IsDigit(r) && r != '.' }))
	begin := len(strings.TrimRightFunc(text[:end], func(r rune) bool { return '0' <= r && r <= '9' || r == '.' }))
	return text[begin:end], text[end:]
}

// measured returns the bound for a value in which the last digit of number, in units of one, is significant.
func measured(text string, v int64, one float64, number string) bound[int64] {
	_, decimals, _ := strings.Cut(number, ".")
	digit := one / math.Pow10(len(decimals))
	return bound[int64]{text: text, first: v, last: v + max(int64(digit), 1) - 1, top: v}
}

// The forms of a time, in UTC by default. The first two may have a fraction.
var (
	instantForms = []timeForm{
		{time.RFC3339, time.Second},
		{"2006-01-02T15:04:05", time.Second},
		{"2006-01-02T15:04", time.Minute},
		{time.DateOnly, 24 * time.Hour},
	}
	dailyForms = []timeForm{{time.TimeOnly, time.Second}, {"15:04", time.Minute}}
)

type timeForm struct {
	layout string
	spans  time.Duration // length of the range without a fraction
}

// readInstant reads a point in time, in nanoseconds since 1970.
func readInstant(text string) (bound[int64], error) {
	return readTime(text, instantForms, func(t time.Time) int64 { return t.UnixNano() })
}

// readDaily reads a time of the day, in nanoseconds since midnight.
func readDaily(text string) (bound[int64], error) {
	return readTime(text, dailyForms, sinceMidnight)
}

func sinceMidnight(t time.Time) int64 {
	t = t.UTC()
	return int64(t.Sub(time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC)))
}

func readTime(text string, forms []timeForm, number func(time.Time) int64) (bound[int64], error) {
	for _, form := range forms {
		t, err := time.Parse(form.layout, text)
		if err != nil || t.Year() > 2200 || t.Year() != 0 && t.Year() < 1700 { // nanoseconds reach no further
			continue
		}
		spans := int64(form.spans)
		for _, c := range afterLast(text, '.') {
			if c < '0' || c > '9' {
				break
			}
			spans = max(spans/10, 1)
		}
		first := number(t)
		return bound[int64]{text: text, first: first, last: first + spans - 1, top: first + spans - 1}, nil
	}
	return bound[int64]{}, fmt.Errorf("wants a time such as 15:04:05 or 2006-01-02T15:04:05Z, not %q", text)
}

// afterLast returns the text after the last c, "" without one.
func afterLast(text string, c byte) string {
	i := strings.LastIndexByte(text, c)
	if i < 0 {
		return ""
	}
	return text[i+1:]
}
