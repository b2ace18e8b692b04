package grpc

import (
	"strconv"
	"time"
)

// TimeoutField is the request header field with the client's timeout.
const TimeoutField = "grpc-timeout"

// units are the units of a timeout, finest first.
var units = []struct {
	of   time.Duration
	word byte
}{
	{time.Nanosecond, 'n'},
	{time.Microsecond, 'u'},
	{time.Millisecond, 'm'},
	{time.Second, 'S'},
	{time.Minute, 'M'},
	{time.Hour, 'H'},
}

// maxTimeout is the largest number that a timeout can have, of eight digits.
const maxTimeout = 99_999_999

// FormatTimeout formats a duration as grpc-timeout, in milliseconds if they fit, else in a coarser unit. It rounds up.
//
// Source: gRPC over HTTP2, "Requests".
func FormatTimeout(d time.Duration) string {
	for _, u := range units[2:] {
		n := max(d, 0) / u.of
		if n*u.of < d {
			n++
		}
		if n <= maxTimeout {
			return strconv.FormatInt(int64(n), 10) + string(u.word)
		}
	}
	return strconv.Itoa(maxTimeout) + "H"
}

// ParseTimeout reads a grpc-timeout. It reports false if the text is invalid.
func ParseTimeout(text string) (time.Duration, bool) {
	if len(text) < 2 || len(text) > 9 {
		return 0, false
	}
	n, err := strconv.ParseUint(text[:len(text)-1], 10, 32)
	if err != nil {
		return 0, false
	}
	for _, u := range units {
		if u.word == text[len(text)-1] {
			if most := uint64(1<<63-1) / uint64(u.of); n > most {
				n = most
			}
			return time.Duration(n) * u.of, true
		}
	}
	return 0, false
}
