package canonical

import (
	"strings"
)

// dateAt recognizes the dates 2026-11-30, 2026/11/30 and 20261130T.
func dateAt(s string) int {
	switch {
	case len(s) < 10 || s[0] != '1' && s[0] != '2':
		return 0
	case startsLike(s, "9999-99-99"), startsLike(s, "9999/99/99"):
		if len(s) > 10 && isDigit(s[10]) {
			return 0
		}
		return 10
	case startsLike(s, "99999999T999999"), startsLike(s, "99999999_999999"):
		return len("20261130T153624")
	}
	return 0
}

// clockAt recognizes the times 15:36:24 and 15:36:24.123, with AM or PM and a zone.
func clockAt(s string) int {
	n := 0
	switch {
	case startsLike(s, "99:99:99"):
		n = 8
	case startsLike(s, "9:99:99"):
		n = 7
	default:
		return 0
	}
	return n + clockRest(s[n:])
}

// clockRest returns the length of what follows the seconds, or the minutes after a date.
func clockRest(s string) (n int) {
	if len(s) > 1 && (s[0] == '.' || s[0] == ',') && isDigit(s[1]) {
		for n = 1; n < len(s) && isDigit(s[n]); {
			n++
		}
	}
	for _, half := range [...]string{" AM", " PM", " am", " pm", "AM", "PM"} {
		if strings.HasPrefix(s[n:], half) {
			n += len(half)
			break
		}
	}
	rest := s[n:]
	switch {
	case rest == "":
	case rest[0] == 'Z':
		n++
	case startsLike(rest[1:], "99:99") && (rest[0] == '+' || rest[0] == '-'):
		n += 6
	case startsLike(rest[1:], "9999") && (rest[0] == '+' || rest[0] == '-'):
		n += 5
	default:
		for _, zone := range [...]string{" UTC", " GMT", " +0000"} {
			if strings.HasPrefix(rest, zone) {
				return n + len(zone)
			}
		}
	}
	return n
}

// clockAfter returns the length of a time that follows a date, with what is between them: 0 if none follows.
func clockAfter(s string) int {
	for _, between := range [...]string{"T", " ", ", ", " at ", "t", "_"} {
		rest, ok := strings.CutPrefix(s, between)
		if !ok {
			continue
		}
		if n := clockAt(rest); n > 0 {
			return len(between) + n
		}
		for _, minutes := range [...]string{"99:99", "9:99"} {
			if startsLike(rest, minutes) {
				return len(between) + len(minutes) + clockRest(rest[len(minutes):])
			}
		}
	}
	return 0
}

var months = [...]string{
	"January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
	"December",
}

var weekdays = [...]string{"Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"}

// nameAt returns the length of one of some names with which a text begins, in full or by its first three letters.
func nameAt(s string, names []string) int {
	if len(s) < 3 || s[0] < 'A' || s[0] > 'W' {
		return 0
	}
	for _, name := range names {
		if name[0] != s[0] || name[1] != s[1] || name[2] != s[2] {
			continue
		}
		for _, n := range [...]int{len(name), 3} {
			if strings.HasPrefix(s, name[:n]) && (len(s) == n || !isWord(s[n])) {
				return n
			}
		}
	}
	return 0
}

// skip returns the length of the blanks, commas and full stops with which a text begins, at most two.
func skip(s string) (n int) {
	for n < min(2, len(s)) && strings.IndexByte(" ,.", s[n]) >= 0 {
		n++
	}
	return n
}

// numberAt returns the length of a number with so many digits, and of its ordinal ending.
func numberAt(s string, least, most int) (n int) {
	for n < len(s) && isDigit(s[n]) {
		n++
	}
	if n < least || n > most {
		return 0
	}
	for _, ending := range [...]string{"st", "nd", "rd", "th"} {
		if most == 2 && strings.HasPrefix(s[n:], ending) {
			return n + len(ending)
		}
	}
	return n
}

// sequence returns the length of parts that follow each other, with blanks or commas between them; 0 if one is missing.
func sequence(s string, parts ...func(string) int) (n int) {
	for i, part := range parts {
		if i > 0 {
			between := skip(s[n:])
			if between == 0 {
				return 0
			}
			n += between
		}
		if n >= len(s) {
			return 0
		}
		length := part(s[n:])
		if length == 0 {
			return 0
		}
		n += length
	}
	return n
}

func month(s string) int   { return nameAt(s, months[:]) }
func weekday(s string) int { return nameAt(s, weekdays[:]) }
func day(s string) int     { return numberAt(s, 1, 2) }
func year(s string) int    { return numberAt(s, 4, 4) }

// clock is a time in a date that ends with its year, as in "Nov 30 15:36:24 2026".
func clock(s string) int { return clockAt(s) }

// monthDay recognizes "November 30, 2026", "Nov 30 15:36:24 2026" and "November 2026".
func monthDay(s string) int {
	return max(sequence(s, month, day, year), sequence(s, month, day, clock, year), sequence(s, month, year))
}

// dayMonth recognizes "30 November 2026".
func dayMonth(s string) int { return sequence(s, day, month, year) }

// weekdayDate recognizes a date with its weekday before it.
func weekdayDate(s string) int {
	return max(sequence(s, weekday, monthDay), sequence(s, weekday, dayMonth), sequence(s, weekday, dateAt))
}
