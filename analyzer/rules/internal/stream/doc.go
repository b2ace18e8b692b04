// Package stream holds the rules about event streams: the framing of events, what they carry, and how streams end.
package stream
