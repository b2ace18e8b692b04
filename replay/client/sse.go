package client

import (
	"io"
	"iter"

	"a2atap/proxy/capture"
	"a2atap/replay/limits"
)

// A serverEvent is a server-sent event.
type serverEvent struct {
	name string // value of its field event, or empty
	data []byte // the caller's
}

// events yields each server-sent event that r dispatches (WHATWG HTML, section 9.2.6). It skips fields other than
// event and data, and drops an event that no blank line ends. An error comes last, with an empty event; it is a
// *limits.ReachedError for a stream that is longer than the limits allow.
func events(r io.Reader, most limits.Limits) iter.Seq2[serverEvent, error] {
	return func(yield func(serverEvent, error) bool) {
		split := capture.Splitter{Limit: limits.Event}
		meter := limits.Meter{Limits: most}
		dispatch := func(blocks []capture.Event) (more bool) {
			for i := range blocks {
				if blocks[i].Dropped > 0 {
					yield(serverEvent{}, limits.EventTooLong())
					return false
				}
				f := split.Fields(i)
				if !f.HasData {
					continue
				}
				if err := meter.Event(); err != nil {
					yield(serverEvent{}, err)
					return false
				}
				if !blocks[i].Unterminated && !yield(serverEvent{string(f.Type), f.Data}, nil) {
					return false
				}
			}
			return true
		}
		piece := make([]byte, 32<<10)
		for open := 0; ; { // bytes of an event that has not ended
			n, err := r.Read(piece)
			if limit := meter.Bytes(n); limit != nil {
				yield(serverEvent{}, limit)
				return
			}
			blocks := split.Write(piece[:n])
			if open += n; len(blocks) > 0 {
				open = 0
			}
			switch {
			case !dispatch(blocks):
				return
			case open > limits.Event+len(piece):
				yield(serverEvent{}, limits.EventTooLong())
				return
			case err == io.EOF:
				dispatch(split.Flush())
				return
			case err != nil:
				yield(serverEvent{}, err)
				return
			}
		}
	}
}
