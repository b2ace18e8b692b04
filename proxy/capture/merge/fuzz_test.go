package merge

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"

	"a2atap/proxy/capture"
	"a2atap/proxy/must"
)

// FuzzRecordings merges recordings in which anything may follow anything: nothing hangs, and no step is lost unsaid.
func FuzzRecordings(f *testing.F) {
	f.Add([]byte("\x00\x10\x20\x30\x40\x50\x60\x01\x11\x21\x31\x41\x51\x61"), false)
	f.Add([]byte("\x00\x04\x10\x14\x20\x24\x34\x44\x30\x40\x54\x50\x64\x60\x70\x74"), true)
	f.Fuzz(func(t *testing.T, data []byte, follow bool) {
		synctest.Test(t, func(t *testing.T) { mergeFuzzed(t, data[:min(len(data), 400)], follow) })
	})
}

func mergeFuzzed(t *testing.T, data []byte, follow bool) {
	hosts := []string{"a", "b", "c"}
	var recordings []Recording
	var memories []*capture.Memory
	for i, h := range hosts {
		memory := capture.NewMemory(capture.Info{ID: uuid.UUID{15: byte(i + 1)}, LostExchanges: int64(len(data) % 3)})
		memories = append(memories, memory)
		recordings = append(recordings, Recording{Host: h, Name: h, Source: memory})
	}
	merged := capture.NewMemory(capture.Info{})
	m := New(merged, Options{Window: time.Second})
	for _, r := range recordings {
		m.Add(r)
	}
	done := make(chan error, 1)
	if follow {
		go func() { done <- m.Follow(context.Background()) }()
	}
	for i, b := range data {
		s := fuzzedStep(i, b)
		must.Do(t, memories[int(b)%3].Append(s))
		if follow && b == 0xff {
			time.Sleep(700 * time.Millisecond)
		}
	}
	for _, memory := range memories {
		must.Do(t, memory.Close())
	}
	if !follow {
		done <- m.Run(context.Background())
	}
	must.Do(t, <-done)
	if !follow { // what was folded too early is written again while recordings are followed
		checkCount(t, m, merged, recordings)
	}
}

// fuzzedStep makes a step of a byte: its host, its exchange and its kind.
func fuzzedStep(i int, b byte) capture.Step {
	seq, kind := uint64(b/3%4), b/12
	s := capture.Step{Seq: seq, Offset: time.Duration(i) * time.Millisecond}
	text := []byte(message(int(seq)))
	switch kind % 12 {
	case 0, 1:
		next := string(rune('a' + (int(b)+int(kind%2)+1)%3))
		s.Offset = 0
		s.What = capture.Opened{
			ID: uuid.UUID{0: b, 1: byte(i), 2: byte(i >> 8)}, Conn: seq % 3,
			Started: noon.Add(time.Duration(i) * time.Millisecond),
			Client:  capture.Peer{Name: "c"}, Agent: capture.Peer{Name: "x", URL: "http://" + next},
			Head: []byte("POST / HTTP/1.1\r\nHost: " + string(rune('a'+int(b)%3)) + "\r\n\r\n"),
		}
	case 2:
		s.What = capture.RequestBody{Data: text}
	case 3:
		s.What = capture.RequestEnd{Size: int64(len(text))}
	case 4:
		s.What = capture.ResponseHead{Head: []byte("HTTP/1.1 200 OK\r\n\r\n"), Stream: i%2 == 0}
	case 5:
		s.What = capture.ResponseBody{Data: text[:int(b)%3]}
	case 6:
		s.What = capture.ResponseEvent{Event: capture.Event{K: 1, Raw: text}}
	case 7:
		s.What = capture.ResponseEnd{Size: 1}
	case 8, 9:
		s.What = capture.Closed{Interrupted: i%5 == 0}
	case 10:
		s.What = capture.Lost{Exchanges: 1, Reason: "full"}
	default:
		s.What = capture.Fact{Note: "n", Rewrites: []capture.Rewrite{{Place: "response.body#/url", Was: "a", Now: "b"}}}
	}
	return s
}
