// Package stream holds the rules about event streams: the framing of events, their contents, and how streams end.
package stream
